// The paths that the service answers by itself: a contract cannot have them.
import { docsPath } from 'fastify-openapi-contract'
import { metricsPath } from '../telemetry/metrics-text.ts'
import { healthPaths } from './health.ts'

export const ownPaths: readonly string[] = [docsPath, metricsPath, ...Object.values(healthPaths)]
