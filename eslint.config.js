import neostandard from 'neostandard'

/** Refuses imports whose specifier matches, so that the layers of CONTRIBUTING.md hold. */
function refuseImports (files, regex, message, ignores = []) {
  return { files, ignores, rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] } }
}

export default [
  ...neostandard({ ts: true, ignores: ['**/generated/', '.tap/', 'data/', 'dist/'] }),
  refuseImports(['src/**', 'scripts/**'], 'contract/(?!index\\.ts$|(?:schema|generate)/)', 'Import from contract/index.ts or contract/schema/index.ts.', ['src/contract/**', 'src/server/**']),
  refuseImports(['src/contract/schema/**'], '^(?:fastify|@fastify/|\\.\\./)', 'schema/ works without a server and without an OpenAPI contract.'),
  refuseImports(['src/plants/**'], '^(?:fastify|@fastify/|pg$|node:sqlite|\\.\\./stores/)', 'The domain knows neither Fastify nor a database.'),
  refuseImports(['src/stores/**'], '^(?:fastify|@fastify/|.*/contract/)', 'A store knows nothing of HTTP.')
]
