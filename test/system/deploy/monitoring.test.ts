import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parseYaml } from '@redocly/openapi-core'
import { exposeMetrics } from '../../../src/telemetry/metrics-text.ts'
import { metricsMemory, Recorder } from '../../../src/telemetry/metrics-recorder.ts'

interface Rules { groups: Array<{ rules: Array<{ alert: string, expr: string, annotations: { summary: string } }> }> }
interface Dashboard { panels: Array<{ id: number, title: string, gridPos: object, targets: Array<{ expr: string }> }> }

const { groups: [group] } = parseYaml(readFileSync('deploy/alerts.yaml', 'utf8')) as Rules
const rules = group?.rules ?? []
const dashboard: Dashboard = JSON.parse(readFileSync('deploy/grafana.json', 'utf8'))
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

/** The names of all series, and of all labels. */
async function exposed (): Promise<Set<string>> {
  const memory = metricsMemory(1)
  const recorder = new Recorder(memory, 0)
  recorder.responded(1, 'POST', 200, 1)
  recorder.committed(1, 1)
  const stop = recorder.watchEventLoop()
  while (memory.delays.rows.every(value => value === 0)) await new Promise(resolve => setTimeout(resolve, 10))
  stop()
  const { text } = await exposeMetrics(memory, ['/plants'], 0)
  const names = text.split('\n').filter(line => !line.startsWith('#')).map(line => line.replace(/[{ ].*/, ''))
  const labels = [...text.matchAll(/([a-z_]+)="/g)].map(([, label = '']) => label)
  return new Set([...names, ...labels])
}

t.test('the dashboard and the alerts ask only for metrics and labels that exist', async t => {
  const known = await exposed()
  const expressions = [...rules.map(({ expr }) => expr), ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
  t.ok(expressions.length > 20)
  for (const expression of expressions) {
    const words = expression.replace(/"[^"]*"/g, '').match(/[a-z_]{3,}/g) ?? []
    const ofPrometheus = ['sum', 'by', 'rate', 'histogram_quantile', 'up', 'job', 'instance', '__rate_interval', 'rate_interval']
    t.strictSame(words.filter(word => !ofPrometheus.includes(word) && !known.has(word)), [], expression)
  }
  const used = (name: string) => expressions.some(expression => expression.includes(name))
  const families = new Set([...known].filter(name => /^(http|plant|nodejs|process)_/.test(name) && !/^http_(re|ro)/.test(name)))
  const unused = [...families].filter(name => !used(name.replace(/_(bucket|sum|count)$/, '')))
  t.strictSame(unused, ['process_start_time_seconds'])
})

t.test('no panel covers another, and each has its own id', async t => {
  const places = dashboard.panels.map(({ gridPos }) => JSON.stringify(gridPos))
  t.equal(new Set(places).size, places.length)
  t.equal(new Set(dashboard.panels.map(({ id }) => id)).size, places.length)
})

t.test('promtool accepts the alerts, and they fire when they should', async t => {
  if (!hasPromtool) return t.comment('promtool is not installed: not tested')
  execFileSync('promtool', ['check', 'rules', 'deploy/alerts.yaml'])
  const count = 'http_server_request_duration_seconds_count'
  const labels = (status: number) => {
    return `{instance="a",http_request_method="POST",http_route="/plants",http_response_status_code="${status}"}`
  }
  const bucket = (name: string, le: string, values: string) => ({ series: `${name}{instance="a",le="${le}"}`, values })
  const slowPlants = (le: string, values: string) => ({
    series: `http_server_request_duration_seconds_bucket{instance="a",http_request_method="POST",http_response_status_code="200",le="${le}"}`,
    values
  })
  const faults: Record<string, object[]> = {
    PlantStoreDown: [{ series: 'up{job="plant-store",instance="a"}', values: '0x120' }],
    PlantStoreFails: [
      { series: `${count}${labels(200)}`, values: '0+97x120' },
      { series: `${count}${labels(503)}`, values: '0+3x120' },
      { series: `${count}${labels(401)}`, values: '0+9000x120' }
    ],
    PlantStoreNotReady: [{
      series: `${count}{instance="a",http_request_method="GET",http_route="/readyz",http_response_status_code="503"}`,
      values: '0+3x120'
    }],
    PlantStoreCommitsFail: [{ series: 'plant_store_failed_batches_total{instance="a"}', values: '0+1x120' }],
    PlantStoreSlow: [slowPlants('0.5', '0+10x120'), slowPlants('1', '0+20x120'), slowPlants('+Inf', '0+20x120')],
    PlantStoreCommitsSlow: [
      bucket('plant_store_commit_duration_seconds_bucket', '0.25', '0+10x120'),
      bucket('plant_store_commit_duration_seconds_bucket', '+Inf', '0+20x120'),
      bucket('plant_store_commit_duration_seconds_bucket', '0.5', '0+20x120')
    ],
    PlantStoreSheds: [{ series: 'plant_store_shed_requests_total{instance="a",reason="queue"}', values: '0+1x120' }],
    PlantStoreRefusesConnections: [{ series: 'plant_store_refused_connections_total{instance="a"}', values: '0+1x120' }],
    PlantStoreGuessedAt: [
      { series: 'plant_store_failed_authentications_total{instance="a"}', values: '0+165x120' }
    ],
    PlantStoreBlocked: [
      bucket('nodejs_eventloop_delay_seconds_bucket', '0.25', '0+10x120'),
      bucket('nodejs_eventloop_delay_seconds_bucket', '+Inf', '0+20x120'),
      bucket('nodejs_eventloop_delay_seconds_bucket', '0.5', '0+20x120')
    ]
  }
  t.strictSame(Object.keys(faults).sort(), rules.map(({ alert }) => alert).sort(), 'every alert has a test')
  const file = join(t.testdir(), 'tests.yaml')
  for (const { alert, annotations, ...rule } of rules) {
    const { labels } = rule as unknown as { labels: object }
    const summary = annotations.summary.replace('{{ $labels.instance }}', 'a')
    const expected = { exp_labels: { instance: 'a', ...alert === 'PlantStoreDown' && { job: 'plant-store' }, ...labels }, exp_annotations: { summary } }
    const healthy = (faults[alert] as Array<{ series: string }>).map(({ series }) => {
      return { series, values: alert === 'PlantStoreDown' ? '1x120' : '0x120' }
    })
    const test = (series: object[], expected: object[]) => ({
      interval: '15s',
      input_series: series,
      alert_rule_test: [{ alertname: alert, eval_time: '29m', exp_alerts: expected }]
    })
    const tests = [test(faults[alert] as object[], [expected]), test(healthy, [])]
    writeFileSync(file, JSON.stringify({ rule_files: [resolve('deploy/alerts.yaml')], tests }))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    t.equal(status, 0, `${alert} ${stdout} ${stderr}`)
  }
})

t.test('a fault of the store for half a minute alerts nobody, one for three minutes does', async t => {
  if (!hasPromtool) return t.comment('promtool is not installed: not tested')
  const counters = {
    PlantStoreNotReady: 'http_server_request_duration_seconds_count{instance="a",http_route="/readyz",http_response_status_code="503"}',
    PlantStoreCommitsFail: 'plant_store_failed_batches_total{instance="a"}'
  }
  const file = join(t.testdir(), 'tests.yaml')
  /** The quarters of a minute at which the alert fires, by a counter that is scraped as often. */
  const firing = (alert: string, series: string, values: string) => {
    const times = Array.from({ length: 40 }, (_, index) => `${index * 15}s`)
    const test = {
      interval: '15s',
      input_series: [{ series, values }],
      alert_rule_test: times.map(time => ({ alertname: alert, eval_time: time, exp_alerts: [] }))
    }
    writeFileSync(file, JSON.stringify({ rule_files: [resolve('deploy/alerts.yaml')], evaluation_interval: '15s', tests: [test] }))
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    return Array.from((stdout + stderr).matchAll(/time: (\S+),/g), ([, time]) => time)
  }
  for (const [alert, series] of Object.entries(counters)) {
    // The fault begins after two minutes; its counter may be missing before.
    for (const before of ['0x7', '_x7']) {
      t.strictSame(firing(alert, series, `${before} 10 20 20x40`), [], `${alert}: 30 seconds`)
      const times = firing(alert, series, `${before} 10+10x11 120x40`)
      t.strictSame(['4m15s', '5m', '6m15s'].map(time => times.includes(time)), [true, true, false], `${alert}: 3 minutes`)
    }
  }
})
