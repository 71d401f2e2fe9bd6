import neostandard from 'neostandard'
import { rooms, walls } from './test/fixtures/walls.js'

export default [
  ...neostandard({ ts: true, ignores: ['**/generated/', '.tap/', 'data/', 'dist/'] }),
  { rules: { 'no-duplicate-imports': 'error' } },
  {
    // The compiler takes an import of .js for one of .ts. Node does not.
    files: ['**/*.ts'],
    rules: {
      'no-restricted-imports': ['error', {
        patterns: [{ regex: '^\\.{1,2}/.*\\.js$', message: 'Let it end with .ts.' }]
      }]
    }
  },
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
