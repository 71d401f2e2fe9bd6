import neostandard from 'neostandard'

export default neostandard({ ts: true, ignores: ['generated/', '.tap/', 'data/'] })
