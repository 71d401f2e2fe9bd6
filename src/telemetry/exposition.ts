// The text of /metrics, in the format of Prometheus, with OpenTelemetry's names where it has some.
import { readdirSync } from 'node:fs'
import { Histogram } from './histogram.ts'
import type { HistogramMemory } from './histogram.ts'
import { counters, partsOf } from './recorder.ts'
import type { Counter, MetricsMemory } from './recorder.ts'

export const metricsPath = '/metrics'

type Labels = Record<string, string | number>
interface Value { value: number, labels: Labels, metricName?: string }
/** A metric as prom-client hands it from one process to another. */
interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  aggregator: 'sum'
  values: Value[]
}

/** Its media type, too. */
export interface Exposition { contentType: string, text: string }

/**
 * @param routes the paths of the API; a series has the index of its path, from 1
 * @param connections the open ones
 */
export async function exposeMetrics (
  memory: MetricsMemory,
  routes: readonly string[],
  connections: number
): Promise<Exposition> {
  // Loading it at startup would delay the first response.
  const { AggregatorRegistry } = await import('prom-client')
  const threads = Array.from({ length: memory.rows }, (_, thread) => metricsOf(memory, thread, routes))
  const registry = AggregatorRegistry.aggregate([...threads, processMetrics(connections)])
  return { contentType: registry.contentType, text: await registry.metrics() }
}

function metricsOf (memory: MetricsMemory, thread: number, routes: readonly string[]): Metric[] {
  const { requests, batches, commits, delays, queued } = memory
  const count = (counter: Counter): number => {
    return memory.counters[thread * counters.length + counters.indexOf(counter)] as number
  }
  return [
    histogram('http_server_request_duration_seconds', 'Time from the header of a request to the end of its response.',
      requests, thread, key => labelsOf(key, routes)),
    histogram('plant_store_batch_plants', 'Plants that a thread stores with one commit.', batches, thread),
    histogram('plant_store_commit_duration_seconds', 'Time in which the store makes a batch durable.', commits, thread),
    histogram('nodejs_eventloop_delay_seconds', 'Time by which timers are late, sampled 20 times a second.', delays,
      thread),
    single('plant_store_failed_batches_total', 'Batches that the store did not confirm.', 'counter',
      count('failedBatches')),
    single('plant_store_queue_plants', 'Plants that wait for storage.', 'gauge', queued[thread] as number),
    metric('plant_store_shed_requests_total', 'Requests answered 503 at once because too many wait.', 'counter', [
      { value: count('overload'), labels: { reason: 'overload' } },
      { value: count('queue'), labels: { reason: 'queue' } }
    ]),
    single('plant_store_refused_connections_total', 'Connections beyond MAX_CONNECTIONS, closed at once.', 'counter',
      count('connections')),
    single('plant_store_failed_authentications_total', 'Requests without accepted credentials.', 'counter',
      count('failedAuthentications'))
  ]
}

function labelsOf (key: number, routes: readonly string[]): Labels {
  const { route, method, status } = partsOf(key)
  const path = routes[route - 1]
  const labels = { http_request_method: method, http_response_status_code: status }
  return path === undefined ? labels : { ...labels, http_route: path }
}

/** Under the names that prom-client gives them. */
function processMetrics (connections: number): Metric[] {
  const { user, system } = process.cpuUsage()
  return [
    single('plant_store_connections', 'Open connections.', 'gauge', connections),
    single('process_cpu_seconds_total', 'CPU time of the process.', 'counter', (user + system) / 1e6),
    single('process_resident_memory_bytes', 'Memory of the process.', 'gauge', process.memoryUsage.rss()),
    single('process_start_time_seconds', 'Start of the process since the Unix epoch.', 'gauge',
      Date.now() / 1000 - process.uptime()),
    ...openFiles().map(count => single('process_open_fds', 'Open files of the process.', 'gauge', count))
  ]
}

/** One number, or none where the system does not tell. */
function openFiles (): number[] {
  try {
    return [readdirSync('/proc/self/fd').length]
  } catch {
    return []
  }
}

function metric (name: string, help: string, type: Metric['type'], values: Value[]): Metric {
  return { name, help, type, aggregator: 'sum', values }
}

function single (name: string, help: string, type: Metric['type'], value: number): Metric {
  return metric(name, help, type, [{ value, labels: {} }])
}

function histogram (
  name: string,
  help: string,
  memory: HistogramMemory,
  thread: number,
  labelsOf: (key: number) => Labels = () => ({})
): Metric {
  return metric(name, help, 'histogram', new Histogram(memory, thread).read().flatMap(({ key, counts, sum }) => {
    const labels = labelsOf(key)
    let total = 0
    const buckets = counts.map((count, index) => {
      total += count
      return { value: total, labels: { le: memory.bounds[index] ?? '+Inf', ...labels }, metricName: `${name}_bucket` }
    })
    return [
      ...buckets,
      { value: sum, labels, metricName: `${name}_sum` },
      { value: total, labels, metricName: `${name}_count` }
    ]
  }))
}
