// The paths of the service beside those of its contract, which may not have them.
import { docsPath } from '../contract/index.ts'
import { metricsPath } from '../telemetry/exposition.ts'
import { healthPaths } from './health.ts'

export const ownPaths: readonly string[] = [...Object.values(healthPaths), docsPath, metricsPath]
