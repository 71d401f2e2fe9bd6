// The report of `npm run bench`: results.json has every sample, throughput.svg is a picture of the summaries.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import type { Sample, Summary } from './summary.ts'

export interface Report {
  conditions: string
  results: Array<{ connections: number, summaries: Summary[] }>
  samples: Sample[]
}

/** Writes both files into a folder. */
export function writeReport (folder: string, { conditions, results, samples }: Report): void {
  mkdirSync(folder, { recursive: true })
  const [{ model } = { model: 'unknown' }, ...others] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const machine = `${type()} ${release()}, ${others.length + 1} cores of ${model}, ${memory}`
  const raw = { date: new Date().toISOString(), machine, versions: process.versions, conditions, results, samples }
  writeFileSync(join(folder, 'results.json'), `${JSON.stringify(raw)}\n`)
  writeFileSync(join(folder, 'throughput.svg'), picture(raw))
}

const rowHeight = 22
const labelWidth = 250
const barWidth = 420

/** A bar for each server: throughput as a share of bare Fastify. */
function picture (
  { date, machine, conditions, results }: Omit<Report, 'samples'> & { date: string, machine: string }
): string {
  const rows: string[] = []
  let y = 0
  const text = (x: number, content: string, attributes = '') => {
    const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    rows.push(`<text x="${x}" y="${y + 15}" ${attributes}>${escaped}</text>`)
  }
  text(0, 'Throughput of POST /plants as a share of bare Fastify', 'font-weight="bold"')
  for (const { connections, summaries } of results) {
    y += 1.5 * rowHeight
    text(0, `${connections} connections`, 'font-weight="bold"')
    const widest = Math.max(...summaries.map(({ share }) => share.value))
    for (const { name, share, throughput } of summaries) {
      y += rowHeight
      text(0, name)
      const width = (barWidth * share.value / widest).toFixed(1)
      const color = name.startsWith('service') ? '#2e7d32' : '#90a4ae'
      rows.push(`<rect x="${labelWidth}" y="${y + 3}" width="${width}" height="${rowHeight - 6}" fill="${color}"/>`)
      text(labelWidth + Number(width) + 6, `${share.value.toFixed(2)} (${Math.round(throughput)}/s)`)
    }
  }
  for (const line of [conditions, `${machine}, ${date.slice(0, 10)}`]) {
    y += 1.2 * rowHeight
    text(0, line, 'font-size="11"')
  }
  const size = `${labelWidth + barWidth + 130} ${y + rowHeight}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -5 ${size}" font-family="sans-serif" font-size="13">
<rect x="-10" y="-5" width="100%" height="100%" fill="white"/>
${rows.join('\n')}
</svg>
`
}
