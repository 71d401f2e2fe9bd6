// The page at /docs in a real browser. Over plain http, browsers trust the addresses of this
// machine but no other host: plants.example stands for such a host.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packed from '@sparticuz/chromium'
import { chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { document } from '../../generated/document.ts'
import { operations } from '../../generated/operations.ts'
import type { AppOptions } from '../../src/service/app.ts'
import { allPlants } from '../../src/plants/plant-store.ts'
import { listen, startApp, token } from '../fixtures/app.ts'

// The rule resolves every host to this machine. Playwright turns off the browser's background
// requests.
const browser = await chromium.launch({ ...await findBrowser(), args: ['--host-resolver-rules=MAP * 127.0.0.1'] })
t.teardown(() => browser.close())

t.test('the page shows the operation, its schemas and the title, version and license', async t => {
  const { page, problems } = await openPage(t, 'plants.example')
  await createPlant(page).getByRole('button', { name: 'Try it out' }).waitFor()
  const { title, version } = document.info
  const info = (await page.locator('.info').innerText()).replace(/\s+/g, ' ')
  t.ok(info.startsWith(`${title} ${version} OAS 3.1 `) && info.endsWith(' MIT'), info)
  t.equal(await createPlant(page).locator('.opblock-summary-path').innerText(), '/plants')
  await openSchemas(page)
  const schemas = await page.locator('.models .json-schema-2020-12__title').allInnerTexts()
  for (const name of ['Plant', 'NewPlant', 'Error']) t.ok(schemas.includes(name), name)
  t.strictSame(problems, [], 'no errors, and no requests to another origin')
})

t.test('a reader finds the first operation open, with its button in sight, and the schemas closed', async t => {
  const { page } = await openPage(t, 'localhost')
  const button = await page.getByRole('button', { name: 'Try it out' }).first().boundingBox()
  t.ok(button !== null && button.y + button.height < 900, 'in a window of 900 pixels')
  await page.locator('.models:not(.is-open)').waitFor()
  t.equal(await page.locator('.models .json-schema-2020-12').count(), 0)
  await createPlant(page).locator('.responses-table').waitFor()
  const height = await page.locator('html').evaluate(html => html.scrollHeight)
  t.ok(height < 4000 * Object.keys(operations).length, `the page is ${height} pixels high`)
})

t.test('the dialog says where the token is', async t => {
  const { page } = await openPage(t, 'localhost')
  await page.getByRole('button', { name: 'Authorize' }).click()
  t.match(await page.locator('.dialog-ux').innerText(), /data\/access-token, or one from its operator/)
})

if (process.env.PICTURE !== undefined) {
  t.test('the picture in the README is replaced', async t => {
    const { page, origin } = await openPage(t, 'localhost', {}, 1000)
    await page.setViewportSize({ width: 1000, height: 1280 })
    await authorize(page, token)
    await createPlant(page).getByRole('button', { name: 'Try it out' }).click()
    await page.locator('.info .url').evaluate((link, origin) => {
      link.textContent = String(link.textContent).replace(origin, 'http://localhost:3000')
    }, origin)
    await page.screenshot({ path: 'docs/images/docs-page.png' })
  })
}

t.test('the page names every declared response, and every member of a new plant', async t => {
  const { page } = await openPage(t, 'localhost')
  const statuses = createPlant(page).locator('.responses-table .response .response-col_status')
  // The operation opens a moment after the page.
  await statuses.first().waitFor()
  const codes = await statuses.allInnerTexts()
  t.strictSame(codes, Object.keys(operations.createPlant.responses))
  await openSchemas(page)
  const newPlant = await page.locator('.models .json-schema-2020-12').filter({ hasText: /^NewPlant/ }).innerText()
  t.match(newPlant, /^NewPlant.*object[^]*\s+name[^]*\s+tag[^]*\s+id.*integer.*int64\s+Identification number of the plant/)
  t.notMatch(newPlant, /any &/)
})

t.test('the page shows where the service is, unless that is the address of the page itself', async t => {
  const { page } = await openPage(t, 'localhost')
  t.notOk(await page.locator('.schemes-server-container').innerText())
  const { page: other } = await openPage(t, 'localhost', { baseUrl: 'https://plants.example/api' })
  const shown = await other.locator('.schemes-server-container').innerText()
  t.match(shown, /^Computed URL:\s*https:\/\/plants\.example\/api$/)
})

for (const width of [420, 1280]) {
  t.test(`nothing is cut off in a window of ${width} pixels`, async t => {
    const { page } = await openPage(t, 'localhost', {}, width)
    await authorize(page, token)
    await execute(page, '{ "id": 9223372036854775807, "name": "Rose", "tag": "red" }')
    t.strictSame(await partsCutOff(page), [])
  })
}

t.test('a token survives a reload of the page, until Logout', async t => {
  const { page } = await openPage(t, 'localhost')
  await authorize(page, token)
  await page.reload()
  const response = await execute(page, '{ "id": 1, "name": "Rose" }')
  t.equal(response.status, '200')
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.locator('.dialog-ux').getByRole('button', { name: 'Remove authorization' }).click()
  t.equal(await page.evaluate(() => localStorage.getItem('authorized')), '{}')
  await page.reload()
  await page.locator('.authorize.unlocked').waitFor()
})

for (const path of ['/', '/docs', '/docs/']) {
  t.test(`behind a proxy that forwards only a prefix, the page at PREFIX${path} adds a plant`, async t => {
    const { app, store } = await startApp(t, { baseUrl: '/api/v1' })
    const port = await startProxy(t, (await listen(app)).port, '/api/v1/')
    const { page, problems } = await visit(t, `http://plants.example:${port}/api/v1${path}`)
    await authorize(page, token)
    const response = await execute(page, '{ "id": 9223372036854775807, "name": "Rose" }')
    const url = `http://plants.example:${port}/api/v1/plants`
    t.strictSame(response, { url, status: '200', body: { name: 'Rose' } })
    t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 9223372036854775807n, name: 'Rose' }])
    t.strictSame(problems, [], 'no errors, and no requests to another origin')
  })
}

for (const host of ['127.0.0.1', 'localhost', 'plants.example']) {
  t.test(`the page at ${host} adds a plant by a request to its own origin`, async t => {
    const { page, origin, store, problems } = await openPage(t, host)
    await authorize(page, token)
    // A JavaScript number cannot hold this id.
    const response = await execute(page, '{ "id": 9223372036854775807, "name": "Rose", "tag": "red" }')
    t.strictSame(response, { url: `${origin}/plants`, status: '200', body: { name: 'Rose', tag: 'red' } })
    t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 9223372036854775807n, name: 'Rose', tag: 'red' }])
    t.strictSame(problems, [], 'no errors, and no requests to another origin')
  })
}

t.test('the page shows an id of an answer with all its digits', async t => {
  const { page } = await openPage(t, 'localhost')
  const answer = { contentType: 'application/json', body: '{"id":9007199254740993,"name":"Rose"}' }
  await page.route('**/plants', route => route.fulfill(answer))
  await execute(page, '{ "id": 1, "name": "Rose" }')
  const shown = await createPlant(page).locator('.live-responses-table .highlight-code code').innerText()
  t.equal(shown.replace(/\s/g, ''), answer.body)
})

t.test('the page shows 401 and the error for a wrong token', async t => {
  const { page, origin, store } = await openPage(t, 'localhost')
  await authorize(page, 'a-wrong-token')
  const response = await execute(page, '{ "id": 1, "name": "Rose" }')
  const body = { error: 401, message: 'The bearer token is not accepted.' }
  t.strictSame(response, { url: `${origin}/plants`, status: '401', body })
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

/**
 * The packed Chromium runs on Linux x64 only. Its own args are left out: they turn off the
 * same-origin policy.
 */
async function findBrowser (): Promise<{ executablePath: string } | { channel: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { channel: 'chrome' }
  // Chromium is unpacked into the temporary folder and nothing else removes it.
  const folder = process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'docs-page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return { executablePath: await packed.executablePath() }
}

/** Opens the page of a new application. */
async function openPage (t: Test, host: string, parts: Partial<AppOptions> = {}, width = 1280) {
  const { app, store } = await startApp(t, parts)
  const origin = `http://${host}:${(await listen(app)).port}`
  return { origin, store, ...await visit(t, `${origin}/docs`, width) }
}

/** Opens a page and collects errors, failed requests and requests to another origin. */
async function visit (t: Test, url: string, width = 1280) {
  const { origin } = new URL(url)
  const page = await browser.newPage({ viewport: { width, height: 900 } })
  t.teardown(() => page.close())
  const problems: string[] = []
  page.on('request', request => {
    if (new URL(request.url()).origin !== origin) problems.push(`${request.url()}: another origin`)
  })
  page.on('requestfailed', request => problems.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('pageerror', error => problems.push(error.message))
  // The console also reports responses from 400 on and violations of the content security policy.
  page.on('console', message => {
    // Swagger UI says so of a list whose items have a format, and shows fields for them.
    if (message.text().startsWith('Could not find component: JsonSchema_')) return
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  await page.goto(url)
  await createPlant(page).waitFor()
  return { page, problems }
}

/** Forwards the paths below a prefix unchanged, and answers 502 to all others. */
async function startProxy (t: Test, port: number, prefix: string): Promise<number> {
  const proxy = createServer((incoming, response) => {
    const { method, url = '', headers } = incoming
    if (!url.startsWith(prefix)) response.writeHead(502).end()
    else {
      incoming.pipe(request({ port, method, path: url, headers }, answer => {
        answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers))
      }))
    }
  })
  proxy.listen(0, '127.0.0.1')
  t.teardown(() => proxy.close())
  await once(proxy, 'listening')
  return (proxy.address() as AddressInfo).port
}

/** The parts of the page that reach over the edge of their operation or of the window. */
async function partsCutOff (page: Page): Promise<string[]> {
  const { width } = page.viewportSize() ?? { width: 0 }
  return page.locator('body *').evaluateAll((elements, width) => elements.flatMap(element => {
    const { right } = element.getBoundingClientRect()
    const edge = element.closest('.opblock')?.getBoundingClientRect().right ?? width
    return right > edge + 1 ? [`${element.tagName} ${element.className}: ${right} of ${edge}`] : []
  }), width)
}

/** Opens the schemas, which the page closes a moment after it has shown them. */
async function openSchemas (page: Page): Promise<void> {
  await page.locator('.models:not(.is-open)').waitFor()
  await page.getByRole('button', { name: 'Schemas', exact: true }).click()
  await page.locator('.models.is-open').waitFor()
}

/** The part of the page with the operation, beside which the contract may have others. */
function createPlant (page: Page) {
  return page.locator('#operations-plants-createPlant')
}

async function authorize (page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).click()
  const dialog = page.locator('.dialog-ux')
  await dialog.getByRole('textbox').fill(token)
  await dialog.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.getByRole('button', { name: 'Close' }).click()
}

/** Sends POST /plants from the page and reads the response that the page shows. */
async function execute (page: Page, plant: string): Promise<{ url: string, status: string, body: unknown }> {
  const operation = createPlant(page)
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.locator('.body-param textarea').fill(plant)
  await operation.getByRole('button', { name: 'Execute' }).click()
  const response = operation.locator('.live-responses-table .response')
  const status = await response.locator('.response-col_status').innerText()
  const [body = 'null'] = await response.locator('.highlight-code code').allInnerTexts()
  return { url: await operation.locator('.request-url pre').innerText(), status, body: JSON.parse(body) }
}
