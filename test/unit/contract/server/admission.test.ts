import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { admitRequests } from '../../../../src/contract/server/admission.ts'
import type { OrderedListener } from '../../../../src/contract/server/pipelining.ts'

const options = {
  answerOverload: ((_request, response) => { response.writeHead(503).end() }) as RequestListener,
  urgentPaths: new Set(['/livez'])
}

/** A request and its response, as Node gives them to a listener. */
function exchange (url = '/plants', isPipelined = false): Parameters<OrderedListener> {
  const request = new IncomingMessage(new Socket())
  request.url = url
  const response = new ServerResponse(request)
  response.assignSocket(request.socket)
  return [request, response, isPipelined]
}

t.test('a turn of the event loop admits 256 requests, the next ones admit the others', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const admitted: string[] = []
  const admit = admitRequests(({ url }) => admitted.push(url as string), options)
  const urls = Array.from({ length: 600 }, (_, index) => `/${index}`)
  for (const url of urls) admit(...exchange(url))
  const counts = [admitted.length]
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    counts.push(admitted.length)
  }
  t.strictSame(counts, [256, 512, 600, 600])
  t.strictSame(admitted, urls)
  admit(...exchange('/last'))
  t.equal(admitted.at(-1), '/last', 'later requests are admitted at once')
})

t.test('a turn admits no more requests after 5 ms, but at least one', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  const costs = [2, 2, 2, 1, 20, 20, 1]
  let admitted = 0
  const admit = admitRequests(() => { clock.now += costs[admitted++] as number }, options)
  for (let request = 0; request < costs.length; request++) admit(...exchange())
  const counts = [admitted]
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    counts.push(admitted)
  }
  t.strictSame(counts, [3, 5, 6, 7])
})

t.test('a request that has waited longer than half a second is answered 503', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  let admitted = 0
  const refused: string[] = []
  const answerOverload = ({ url }: IncomingMessage) => refused.push(url as string)
  const admit = admitRequests(() => admitted++, { ...options, answerOverload })
  for (let index = 0; index < 256; index++) admit(...exchange())
  admit(...exchange('/old'))
  clock.now = 501
  admit(...exchange('/new'))
  await new Promise(setImmediate)
  t.strictSame(refused, ['/old'])
  t.equal(admitted, 257)
})

t.test('health checks and other requests that wait are begun in turns', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const admitted: string[] = []
  const admit = admitRequests(({ url }) => admitted.push(url as string), options)
  for (let index = 0; index < 1000; index++) admit(...exchange())
  for (let index = 0; index < 1000; index++) admit(...exchange('/livez'))
  t.equal(admitted.includes('/livez'), false, 'the first turn is full')
  await new Promise(setImmediate)
  const turn = admitted.slice(256)
  t.strictSame(
    [turn.length, turn.filter(url => url === '/livez').length, turn[0]], [256, 128, '/livez']
  )
  while (admitted.length < 2000) await new Promise(setImmediate)
  t.equal(admitted.filter(url => url === '/livez').length, 1000)
})

t.test('a pipelined health check waits as other requests do', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const admitted: string[] = []
  const admit = admitRequests(({ url }) => admitted.push(url as string), options)
  for (let index = 0; index < 300; index++) admit(...exchange())
  admit(...exchange('/livez', true))
  admit(...exchange('/livez'))
  await new Promise(setImmediate)
  t.strictSame(
    admitted.slice(256).flatMap((url, index) => url === '/livez' ? [index] : []), [0, 45]
  )
})

t.test('while many requests wait, the connections of answered ones are not read', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const begun: Array<Parameters<RequestListener>> = []
  const admit = admitRequests((...exchange) => begun.push(exchange), options)
  const turns = [{ length: 256 }, { length: 1000 }].flatMap(
    (turn, index) => Array.from(turn, () => `/${index}`)
  )
  for (const url of turns) admit(...exchange(url))
  admit(...exchange('/livez'))
  const answer = (count: number) => {
    for (const [request, response] of begun.slice(0, count)) {
      request.complete = true
      response.emit('finish')
    }
  }
  const paused = () => begun.filter(([{ socket }]) => socket.isPaused())

  answer(256)
  t.equal(paused().length, 0, 'nothing waited when these began')
  await new Promise(setImmediate)
  answer(512)
  t.equal(paused().length, 255, 'all that began since, except the health check')
  t.notOk(paused().some(([{ url }]) => url === '/livez'))
  const turn = async () => {
    await new Promise(setImmediate)
    return [begun.length, paused().length]
  }
  t.strictSame([await turn(), await turn()], [[768, 255], [1024, 232]])
  answer(1024)
  t.equal(paused().length, 744, 'the others are paused behind those that are paused already')
  t.strictSame([await turn(), await turn(), await turn()], [[1257, 488], [1257, 232], [1257, 0]])
  answer(1257)
  t.equal(paused().length, 0, 'nothing waits any more')
})

t.test('under overload a pipelined request waits for the connections paused before it', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const begun: Array<Parameters<RequestListener>> = []
  const paused = () => begun.filter(([{ socket }]) => socket.isPaused()).length
  let pausedThen: number | undefined
  const admit = admitRequests((request, response) => {
    begun.push([request, response])
    if (request.url === '/pipelined') pausedThen = paused()
  }, options)
  admit(...exchange('/pipelined', true))
  t.equal(pausedThen, 0, 'without overload it is admitted at once')
  pausedThen = undefined
  for (let index = 0; index < 855; index++) admit(...exchange('/plants', index === 300))
  await new Promise(setImmediate)
  for (const [request, response] of begun.slice(262)) {
    request.complete = true
    response.emit('finish')
  }
  admit(...exchange('/pipelined', true))
  const counts = []
  for (let turn = 0; turn < 2; turn++) {
    counts.push([begun.length, paused()])
    await new Promise(setImmediate)
  }
  t.strictSame(
    counts, [[512, 249], [768, 81]], 'a connection with pipelined requests is not paused as well'
  )
  t.equal(pausedThen, 0)
  t.equal(begun.length, 857)
})
