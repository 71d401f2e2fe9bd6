import { dirname, relative, resolve } from 'node:path'
import neostandard from 'neostandard'

/**
 * The rooms of the house, from the top to the ground. A file is in the room with the longest path
 * that it begins with. It may import its own room, the files and folders in `imports`, which are
 * always further down, and the packages in `packages`. Modules of Node are free, except those that
 * a room lists.
 */
const rooms = {
  'scripts/bench': {
    imports: [
      'scripts/options.ts', 'scripts/revision.ts', 'src/service/next-tick.ts',
      'src/stores/open.ts', 'src/contract/index.ts', 'generated', 'test/fixtures'
    ],
    packages: ['fastify', 'fastify-openapi-glue', 'node:sqlite', 'pg']
  },
  scripts: {
    imports: ['src/service/service-paths.ts', 'src/contract/generate/index.ts'],
    packages: []
  },
  'src/main.ts': {
    imports: ['src/commands', 'src/service/threads/http-thread.ts'],
    packages: []
  },
  'src/commands': {
    imports: [
      'src/service', 'src/config', 'src/stores', 'src/auth/verifier.ts', 'src/telemetry',
      'src/plants', 'src/contract/schema/index.ts', 'src/server/connection-limit.ts',
      'src/private-files.ts', 'generated'
    ],
    packages: ['cli-progress', 'close-with-grace', 'pino']
  },
  'src/service': {
    imports: [
      'src/config', 'src/stores', 'src/auth/verifier.ts', 'src/limits', 'src/telemetry',
      'src/plants', 'src/contract/index.ts', 'src/server', 'generated'
    ],
    packages: ['fastify', 'pino']
  },
  'src/config': { imports: ['src/stores/open.ts', 'src/auth'], packages: [] },
  'src/stores': { imports: ['src/plants', 'src/private-files.ts'], packages: ['node:sqlite', 'pg'] },
  'src/auth': { imports: ['src/contract/index.ts', 'src/private-files.ts'], packages: ['jose'] },
  'src/limits': { imports: ['src/contract/index.ts', 'src/server'], packages: ['fastify'] },
  'src/telemetry': {
    imports: ['src/contract/index.ts', 'src/server'],
    packages: ['fastify', 'pino', 'pino-pretty', 'prom-client']
  },
  'src/plants': { imports: ['src/contract/index.ts', 'generated'], packages: [] },
  'src/contract': {
    imports: [
      'src/contract/routing', 'src/contract/security', 'src/contract/bodies',
      'src/contract/answers', 'src/contract/message', 'src/contract/schema/index.ts',
      'src/contract/types', 'src/server'
    ],
    packages: ['@fastify/auth', '@fastify/swagger', '@fastify/swagger-ui', 'fastify']
  },
  'src/contract/generate': {
    imports: [
      'src/contract/parameters', 'src/contract/message', 'src/contract/schema/index.ts',
      'src/contract/types', 'src/private-files.ts'
    ],
    packages: [
      '@redocly/openapi-core', '@scalar/openapi-upgrader', 'ajv', 'fastify', 'openapi-typescript',
      'typescript'
    ]
  },
  'src/contract/routing': {
    imports: [
      'src/contract/security', 'src/contract/bodies', 'src/contract/parameters',
      'src/contract/answers', 'src/contract/message', 'src/contract/schema/index.ts',
      'src/contract/types', 'src/server'
    ],
    packages: ['fastify']
  },
  'src/contract/security': {
    imports: ['src/contract/message', 'src/contract/types', 'src/server'],
    packages: ['fastify']
  },
  'src/contract/bodies': {
    imports: [
      'src/contract/parameters', 'src/contract/message', 'src/contract/schema/index.ts',
      'src/contract/types', 'src/server'
    ],
    packages: ['@fastify/busboy', 'fastify']
  },
  'src/contract/parameters': {
    imports: [
      'src/contract/message', 'src/contract/schema/index.ts', 'src/contract/types', 'src/server'
    ],
    packages: ['fastify']
  },
  'src/contract/answers': {
    imports: [
      'src/contract/message', 'src/contract/schema/index.ts', 'src/contract/types', 'src/server'
    ],
    packages: ['fastify', 'negotiator']
  },
  'src/contract/message': { imports: ['src/contract/types', 'src/server'], packages: ['fastify'] },
  'src/contract/schema': { imports: [], packages: ['ajv', 'ajv-formats', 'fast-json-stringify'] },
  'src/contract/types': { imports: [], packages: [] },
  'src/server': { imports: [], packages: [] },
  'src/private-files.ts': { imports: [], packages: [] },
  generated: { imports: [], packages: [] },
  test: { imports: [], packages: [] }
}

const listedModules = new Set(Object.values(rooms).flatMap(({ packages }) => packages))

/** Reports imports that the table does not allow; also dynamic ones and those of types only. */
const walls = {
  meta: { type: 'problem', schema: [] },
  create (context) {
    const file = relative(context.cwd, context.filename)
    const room = roomOf(file)
    const report = (node, target) => {
      const text = `${room} must not import ${target} (rooms in eslint.config.js).`
      context.report({ node, message: text })
    }
    const check = source => {
      if (typeof source?.value !== 'string') return
      if (!source.value.startsWith('.')) {
        const name = packageOf(source.value)
        const isFree = name.startsWith('node:') && !listedModules.has(name)
        if (!isFree && !rooms[room].packages.includes(name)) report(source, `the package ${name}`)
        return
      }
      const target = relative(context.cwd, resolve(dirname(context.filename), source.value))
      const targetRoom = roomOf(target)
      if (targetRoom === room) return
      if (!rooms[room].imports.some(path => isWithin(target, path))) report(source, target)
    }
    return {
      ImportDeclaration: node => check(node.source),
      ImportExpression: node => check(node.source),
      ExportAllDeclaration: node => check(node.source),
      ExportNamedDeclaration: node => check(node.source),
      TSImportType: node => check(node.source)
    }
  }
}

function roomOf (file) {
  const around = Object.keys(rooms).filter(path => isWithin(file, path))
  return around.sort((a, b) => b.length - a.length)[0]
}

function isWithin (file, path) {
  return file === path || file.startsWith(`${path}/`)
}

/** `@fastify/auth`, or `ajv` of `ajv/dist/2020.js`. */
function packageOf (specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

export default [
  ...neostandard({ ts: true, ignores: ['**/generated/', '.tap/', 'data/', 'dist/'] }),
  {
    files: ['src/**/*.ts', 'scripts/**/*.ts'],
    ignores: ['scripts/bench/peers/**'],
    plugins: { house: { rules: { walls } } },
    rules: { 'house/walls': 'error' },
    // For the test of this table.
    settings: { rooms }
  }
]
