// The paths that are labels of metrics: those of the contract and the service's own.
import { docsPath, routedOperations, serverPath, toRoute } from 'fastify-openapi-contract'
import * as contract from '../../generated/operations.ts'
import { ownPaths } from './service-paths.ts'

interface RouteLabels {
  paths: string[]
  /** The place of a Fastify route among the paths, from 1; 0 for none. */
  indexOf: (route: string) => number
}

export function createRouteLabels (baseUrl: string): RouteLabels {
  const variables = { base_url: baseUrl }
  const prefix = toRoute(decodeURI(serverPath(contract.server, variables)))
  const templates = new Set<string>()
  for (const { template } of routedOperations(contract, variables)) templates.add(template)
  const paths = [...templates, ...ownPaths]
  const indexes = new Map(paths.map((path, index) => [toRoute(path), index + 1]))
  // Own paths are also below that of BASE_URL.
  for (const path of ownPaths) indexes.set(prefix + path, indexes.get(path) as number)
  return {
    paths,
    indexOf (route) {
      const index = indexes.get(route)
      if (index !== undefined) return index
      // The page of the contract has files below its path.
      const pages = [docsPath, prefix + docsPath]
      const isFile = pages.some(page => route.startsWith(`${page}/`))
      return isFile ? indexes.get(docsPath) as number : 0
    }
  }
}
