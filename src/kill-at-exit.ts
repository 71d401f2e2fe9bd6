// Ends the process without what Node does last: it waits for all threads, and closes databases.

/**
 * Kills the process at its exit; a second call changes nothing. The first process of a container
 * survives its own SIGKILL, but not an abort.
 */
export function killAtExit (): void {
  if (process.listeners('exit').includes(process.abort)) return
  process.once('exit', process.kill.bind(process, process.pid, 'SIGKILL'))
  process.once('exit', process.abort)
}
