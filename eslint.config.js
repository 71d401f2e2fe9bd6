import neostandard from 'neostandard'
import { rooms, walls } from './test/fixtures/walls.js'

export default [
  ...neostandard({ ts: true, ignores: ['**/generated/', '.tap/', 'data/', 'dist/'] }),
  { rules: { 'no-duplicate-imports': 'error' } },
  {
    files: ['src/**/*.ts', 'scripts/**/*.ts'],
    plugins: { house: { rules: { walls } } },
    rules: {
      'house/walls': 'error',
      '@stylistic/max-len': ['error', { code: 100 }]
    },
    // For the test of this table.
    settings: { rooms }
  }
]
