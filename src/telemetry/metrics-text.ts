// The text of /metrics, in the format of Prometheus, with OpenTelemetry's names where it has some.
import { readdirSync } from 'node:fs'
import { Histogram, type HistogramMemory } from './histogram.ts'
import { type Counter, counters, type MetricsMemory, readSeriesKey } from './metrics-recorder.ts'

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

/**
 * @param routes the paths of the API; a series has the index of its path, from 1
 * @param connections the open ones
 */
export async function exposeMetrics (
  memory: MetricsMemory,
  routes: readonly string[],
  connections: number
): Promise<{ contentType: string, text: string }> {
  // Loading it at startup would delay the first response.
  const { AggregatorRegistry } = await import('prom-client')
  const metrics: Metric[][] = []
  for (let thread = 0; thread < memory.rows; thread++) {
    metrics.push(threadMetrics(memory, thread, routes))
  }
  metrics.push(processMetrics(connections))
  const registry = AggregatorRegistry.aggregate(metrics)
  return { contentType: registry.contentType, text: await registry.metrics() }
}

function threadMetrics (
  memory: MetricsMemory,
  thread: number,
  routes: readonly string[]
): Metric[] {
  const count = (counter: Counter): number => {
    return memory.counters[thread * counters.length + counters.indexOf(counter)] as number
  }
  const histogram = (name: string, help: string, memory: HistogramMemory, labelsOf = noLabels) => {
    return metric('histogram', name, help, histogramValues(name, memory, thread, labelsOf))
  }
  return [
    histogram('http_server_request_duration_seconds',
      'Time from the header of a request to the end of its response.',
      memory.requests, key => requestLabels(key, routes)),
    histogram('plant_store_batch_plants', 'Plants that a thread stores with one commit.',
      memory.batches),
    histogram('plant_store_commit_duration_seconds',
      'Time in which the store makes a batch durable.', memory.commits),
    histogram('nodejs_eventloop_delay_seconds',
      'Time by which timers are late, sampled 20 times a second.', memory.delays),
    metric('counter', 'plant_store_failed_batches_total',
      'Batches that the store did not confirm.', count('failedBatches')),
    metric('gauge', 'plant_store_queue_plants', 'Plants that wait for storage.',
      memory.queued[thread] as number),
    metric('counter', 'plant_store_shed_requests_total',
      'Requests answered 503 because too many wait.', [
        { value: count('overload'), labels: { reason: 'overload' } },
        { value: count('queue'), labels: { reason: 'queue' } }
      ]),
    metric('counter', 'plant_store_refused_connections_total',
      'Connections beyond MAX_CONNECTIONS, closed at once.', count('connections')),
    metric('counter', 'plant_store_failed_authentications_total',
      'Requests without accepted credentials.', count('failedAuthentications'))
  ]
}

function noLabels (_key: number): Labels {
  return {}
}

function requestLabels (key: number, routes: readonly string[]): Labels {
  const { route, method, status } = readSeriesKey(key)
  const labels: Labels = { http_request_method: method, http_response_status_code: status }
  const path = routes[route - 1]
  if (path !== undefined) labels.http_route = path
  return labels
}

/** Metrics of the process, under the names that prom-client gives them. */
function processMetrics (connections: number): Metric[] {
  const { user, system } = process.cpuUsage()
  const started = Date.now() / 1000 - process.uptime()
  const metrics = [
    metric('gauge', 'plant_store_connections', 'Open connections.', connections),
    metric('counter', 'process_cpu_seconds_total', 'CPU time of the process.',
      (user + system) / 1e6),
    metric('gauge', 'process_resident_memory_bytes', 'Memory of the process.',
      process.memoryUsage.rss()),
    metric('gauge', 'process_start_time_seconds', 'Start of the process since the Unix epoch.',
      started)
  ]
  try {
    const openFiles = readdirSync('/proc/self/fd').length
    metrics.push(metric('gauge', 'process_open_fds', 'Open files of the process.', openFiles))
  } catch {
    // Only Linux has this directory.
  }
  return metrics
}

/** @param given a number, or values with labels */
function metric (
  type: Metric['type'],
  name: string,
  help: string,
  given: number | Value[]
): Metric {
  const values = typeof given === 'number' ? [{ value: given, labels: {} }] : given
  return { name, help, type, aggregator: 'sum', values }
}

function histogramValues (
  name: string,
  memory: HistogramMemory,
  thread: number,
  labelsOf: (key: number) => Labels
): Value[] {
  const values: Value[] = []
  for (const { key, counts, sum } of new Histogram(memory, thread).read()) {
    const labels = labelsOf(key)
    let total = 0
    for (const [index, count] of counts.entries()) {
      total += count
      const le = memory.bounds[index] ?? '+Inf'
      values.push({ value: total, labels: { le, ...labels }, metricName: `${name}_bucket` })
    }
    values.push({ value: sum, labels, metricName: `${name}_sum` })
    values.push({ value: total, labels, metricName: `${name}_count` })
  }
  return values
}
