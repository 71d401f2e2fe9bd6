// The page at /docs in a real browser, at every kind of address: browsers treat loopback, the name localhost and other
// names differently over plain http, and Swagger UI asks a validator on the internet only about the last.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packed from '@sparticuz/chromium'
import { chromium } from 'playwright-core'
import type { Browser, Page, Request } from 'playwright-core'
import t from 'tap'
import type { Test } from 'tap'
import { listen, startApp, token } from './fixtures/app.ts'

const hosts = ['127.0.0.1', 'localhost', 'plants.example']
const browser = await launch(t)

for (const host of hosts) {
  t.test(`the page at ${host} shows the contract, without errors and without asking another origin`, async t => {
    const { page, origin, requests, troubles } = await openPage(t, host)
    t.match(await page.locator('.info').innerText(), /^Plant Store\s+1\.0\.0\s+OAS 3\.1\s[^]*\sMIT$/)
    t.equal(await page.locator('.servers select').innerText(), '{base_url} - The address at which the service is reached.')
    await operation(page).click()
    await page.getByText('Try it out').waitFor()
    t.strictSame(await page.locator('.opblock-summary-path').allInnerTexts(), ['/plants'])
    t.strictSame(await page.locator('.models .json-schema-2020-12__title').allInnerTexts(), ['Plant', 'NewPlant', 'Error'])
    t.strictSame(troubles, [])
    t.strictSame(origins(requests), [origin])
  })

  t.test(`a plant is added from the page at ${host}, by a request to that address`, async t => {
    const { page, origin, store, requests, troubles } = await openPage(t, host)
    await authorize(page, token)
    // No number of JavaScript holds this id.
    const { status, body } = await execute(page, '{ "id": 9223372036854775807, "name": "Rose", "tag": "red" }')
    t.equal(status, '200')
    t.strictSame(body, { name: 'Rose', tag: 'red' })
    t.strictSame(await Array.fromAsync(store.all()), [{ id: 9223372036854775807n, name: 'Rose', tag: 'red' }])
    t.strictSame(requests.filter(request => request.method() === 'POST').map(request => request.url()), [`${origin}/plants`])
    t.strictSame(troubles, [])
    t.strictSame(origins(requests), [origin])
  })
}

t.test('the page shows 401 and the error for a wrong token', async t => {
  const { page, store } = await openPage(t, 'localhost')
  await authorize(page, 'a-wrong-token')
  const { status, body } = await execute(page, '{ "id": 1, "name": "Rose" }')
  t.match(status, /^401\b/)
  t.strictSame(body, { error: 401, message: 'The bearer token is not accepted.' })
  t.strictSame(await Array.fromAsync(store.all()), [])
})

/** The packed Chromium is for Linux on x64. It unpacks into the temporary folder, where it would stay. */
async function launch (t: Test): Promise<Browser> {
  // Every name is this machine. Playwright itself turns off what browsers do in the background.
  const args = ['--host-resolver-rules=MAP * 127.0.0.1']
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    const browser = await chromium.launch({ channel: 'chrome', args })
    t.teardown(() => browser.close())
    return browser
  }
  const folder = process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'docs-page-'))
  // Without packed.args: they turn off the checks of other origins, and the browser ends with its first page.
  const browser = await chromium.launch({ executablePath: await packed.executablePath(), args })
  t.teardown(async () => {
    await browser.close()
    rmSync(folder, { recursive: true })
  })
  return browser
}

/** Opens the page of a new application; `requests` and `troubles` fill up from then on. */
async function openPage (t: Test, host: string) {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  const origin = `http://${host}:${port}`
  const page = await browser.newPage()
  t.teardown(() => page.close())
  page.setDefaultTimeout(10_000)
  const requests: Request[] = []
  const troubles: string[] = []
  page.on('request', request => requests.push(request))
  page.on('requestfailed', request => troubles.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('pageerror', error => troubles.push(String(error)))
  // Chromium reports answers from 400 on and violations of the content security policy here, too.
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) troubles.push(message.text()) })
  await page.goto(`${origin}/docs`)
  await operation(page).waitFor()
  return { page, origin, store, requests, troubles }
}

function operation (page: Page) {
  return page.getByRole('button', { name: 'POST /plants Create a plant' })
}

async function authorize (page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).click()
  const dialog = page.locator('.dialog-ux')
  await dialog.getByRole('textbox').fill(token)
  await dialog.getByRole('button', { name: 'Apply credentials' }).click()
  await dialog.getByRole('button', { name: 'Close' }).click()
}

/** Tries POST /plants out, and reads what the page shows of the answer. */
async function execute (page: Page, plant: string): Promise<{ status: string, body: unknown }> {
  await operation(page).click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.locator('.body-param textarea').fill(plant)
  await page.getByRole('button', { name: 'Execute' }).click()
  const answer = page.locator('.live-responses-table .response')
  const status = await answer.locator('.response-col_status').innerText()
  return { status, body: JSON.parse(await answer.locator('.highlight-code code').innerText()) }
}

function origins (requests: Request[]): string[] {
  return [...new Set(requests.map(request => new URL(request.url()).origin))]
}
