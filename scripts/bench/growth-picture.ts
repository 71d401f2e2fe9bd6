// The picture of `npm run bench:growth`: one panel for each thing that grows, with logarithmic axes.

/** Points in the order of x, in requests per second. */
export interface Line { name: string, points: Array<{ x: number, y: number }> }
export interface Panel { title: string, lines: Line[] }

const width = 260
const height = 220
const margin = { left: 60, top: 60, right: 40, bottom: 40 }
const colors = ['#90a4ae', '#2e7d32', '#1565c0', '#ef6c00']

export function drawGrowth (title: string, panels: Panel[]): string {
  const names = [...new Set(panels.flatMap(({ lines }) => lines.map(({ name }) => name)))]
  const colorOf = (name: string) => colors[names.indexOf(name)] as string
  const legend = names.map((name, index) => {
    const x = margin.left + 180 * index
    const box = `<rect x="${x}" y="30" width="12" height="12" fill="${colorOf(name)}"/>`
    return `${box}<text x="${x + 18}" y="40">${name}</text>`
  })
  const throughputs = panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(({ y }) => y)))
  // Powers of ten around all points.
  const range: Range = [
    10 ** Math.floor(Math.log10(Math.min(...throughputs))),
    10 ** Math.ceil(Math.log10(Math.max(...throughputs)))
  ]
  const panelWidth = width + margin.left + margin.right
  const drawn = panels.map((panel, index) => {
    return `<g transform="translate(${index * panelWidth} 0)">${drawPanel(panel, range, colorOf)}</g>`
  })
  const size = `${panels.length * panelWidth} ${height + margin.top + margin.bottom}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="${margin.left}" y="18" font-weight="bold">${title}</text>
${[...legend, ...drawn].join('\n')}
</svg>
`
}

type Range = [low: number, high: number]

function drawPanel ({ title, lines }: Panel, [low, high]: Range, colorOf: (name: string) => string): string {
  const xs = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))]
  const placeX = (x: number) => margin.left + width * xs.indexOf(x) / (xs.length - 1)
  const placeY = (y: number) => margin.top + height * (1 - Math.log(y / low) / Math.log(high / low))
  const axes: string[] = []
  for (let y = low; y <= high; y *= 10) {
    const place = placeY(y).toFixed(1)
    axes.push(`<path d="M${margin.left} ${place}h${width}" stroke="#ddd"/>`)
    axes.push(`<text x="${margin.left - 6}" y="${place}" dy="4" text-anchor="end">${y.toLocaleString('en')}</text>`)
  }
  const below = (x: number, y: number, text: string) => {
    axes.push(`<text x="${x}" y="${margin.top + height + y}" text-anchor="middle">${text}</text>`)
  }
  for (const x of xs) below(placeX(x), 16, x.toLocaleString('en'))
  below(margin.left + width / 2, 34, title)
  const drawn = lines.flatMap(({ name, points }) => {
    const places = points.map(({ x, y }) => `${placeX(x).toFixed(1)},${placeY(y).toFixed(1)}`)
    const dots = places.map(place => place.split(',')).map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3"/>`)
    const color = colorOf(name)
    return [
      `<polyline points="${places.join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      `<g fill="${color}">${dots.join('')}</g>`
    ]
  })
  return [...axes, ...drawn].join('\n')
}
