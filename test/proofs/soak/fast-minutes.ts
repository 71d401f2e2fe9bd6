// Preloaded into the service: minutes pass in a part of their time. It speeds up the windows in
// which requests and lines of the log are counted, and everything that waits for half a minute or
// longer. The time limits of requests and of statements stay as they are.

const speed = Number(new URL(import.meta.url).searchParams.get('speed'))
const longMs = 30_000

const hrtime = process.hrtime
const fastHrtime = (): [number, number] => {
  const nanoseconds = hrtime.bigint() * BigInt(speed)
  return [Number(nanoseconds / 1_000_000_000n), Number(nanoseconds % 1_000_000_000n)]
}
process.hrtime = Object.assign(fastHrtime, { bigint: hrtime.bigint })

const startTimer = globalThis.setTimeout
const startFastTimer = (callback: () => void, ms = 0, ...rest: []) => {
  return startTimer(callback, ms < longMs ? ms : ms / speed, ...rest)
}
globalThis.setTimeout = Object.assign(startFastTimer, startTimer)
