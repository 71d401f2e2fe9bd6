// The page at /docs in a real browser. Browsers trust this machine's addresses over plain http, but no other name:
// plants.example is such a name here.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packed from '@sparticuz/chromium'
import { chromium } from 'playwright-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { allPlants } from '../src/plants/plant-store.ts'
import type { Test } from 'tap'
import { listen, startApp, token } from './fixtures/app.ts'

// Every name is this machine. Playwright by itself turns off what browsers do in the background.
const browser = await chromium.launch({ ...await whichBrowser(), args: ['--host-resolver-rules=MAP * 127.0.0.1'] })
t.teardown(() => browser.close())

t.test('the page shows the operation and what it is about', async t => {
  const { page, troubles } = await openPage(t, 'plants.example')
  await operation(page).click()
  await page.getByRole('button', { name: 'Try it out' }).waitFor()
  t.match(await page.locator('.info').innerText(), /^Plant Store\s+1\.0\.0\s+OAS 3\.1\s[^]*\sMIT$/)
  t.strictSame(await page.locator('.opblock-summary-path').allInnerTexts(), ['/plants'])
  t.strictSame(await page.locator('.models .json-schema-2020-12__title').allInnerTexts(), ['Plant', 'NewPlant', 'Error'])
  t.strictSame(troubles, [], 'nothing goes wrong, and no other origin is asked')
})

for (const host of ['127.0.0.1', 'localhost', 'plants.example']) {
  t.test(`the page at ${host} adds a plant by a request to that very address`, async t => {
    const { page, origin, store, troubles } = await openPage(t, host)
    await authorize(page, token)
    // No number of JavaScript is this id.
    const answer = await execute(page, '{ "id": 9223372036854775807, "name": "Rose", "tag": "red" }')
    t.strictSame(answer, { from: `${origin}/plants`, status: '200', body: { name: 'Rose', tag: 'red' } })
    t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 9223372036854775807n, name: 'Rose', tag: 'red' }])
    t.strictSame(troubles, [], 'nothing goes wrong, and no other origin is asked')
  })
}

t.test('the page shows 401 and the error for a wrong token', async t => {
  const { page, origin, store } = await openPage(t, 'localhost')
  await authorize(page, 'a-wrong-token')
  const answer = await execute(page, '{ "id": 1, "name": "Rose" }')
  t.strictSame(answer, { from: `${origin}/plants`, status: '401', body: { error: 401, message: 'The bearer token is not accepted.' } })
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

/** The packed Chromium is for Linux on x64. Its args are left out: they turn off the checks between origins. */
async function whichBrowser (): Promise<{ executablePath: string } | { channel: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return { channel: 'chrome' }
  // It unpacks into the temporary folder, and would stay there.
  const folder = process.env.TMPDIR = mkdtempSync(join(tmpdir(), 'docs-page-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return { executablePath: await packed.executablePath() }
}

/** Opens the page of a new application, and collects what goes wrong from then on. */
async function openPage (t: Test, host: string) {
  const { app, store } = await startApp(t)
  const origin = `http://${host}:${(await listen(app)).port}`
  const page = await browser.newPage()
  t.teardown(() => page.close())
  page.setDefaultTimeout(10_000)
  const troubles: string[] = []
  page.on('request', request => { if (new URL(request.url()).origin !== origin) troubles.push(`${request.url()}: another origin`) })
  page.on('requestfailed', request => troubles.push(`${request.url()}: ${request.failure()?.errorText}`))
  page.on('pageerror', error => troubles.push(error.message))
  // Answers from 400 on and violations of the content security policy are errors of the console, too.
  page.on('console', message => { if (['error', 'warning'].includes(message.type())) troubles.push(message.text()) })
  await page.goto(`${origin}/docs`)
  await operation(page).waitFor()
  return { page, origin, store, troubles }
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
async function execute (page: Page, plant: string): Promise<{ from: string, status: string, body: unknown }> {
  await operation(page).click()
  await page.getByRole('button', { name: 'Try it out' }).click()
  await page.locator('.body-param textarea').fill(plant)
  await page.getByRole('button', { name: 'Execute' }).click()
  const answer = page.locator('.live-responses-table .response')
  const status = await answer.locator('.response-col_status').innerText()
  const [body = 'null'] = await answer.locator('.highlight-code code').allInnerTexts()
  return { from: await page.locator('.request-url pre').innerText(), status, body: JSON.parse(body) }
}
