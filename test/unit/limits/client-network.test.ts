import fc from 'fast-check'
import t from 'tap'
import { networkOf, tidyForwardedFor } from '../../../src/limits/client-network.ts'
import { listen, logLines, startApp } from '../../fixtures/app.ts'
import { exchange, requestText } from '../../fixtures/raw.ts'

const network = (ip: string) => networkOf({ ip, socket: { remoteAddress: '192.0.2.99' } })

t.test('IPv4 counts by address, IPv6 by its first 64 bits, and IPv4 in IPv6 as IPv4', async t => {
  const networks: Record<string, string> = {
    '192.0.2.1': '192.0.2.1',
    '::ffff:192.0.2.1': '192.0.2.1',
    '::FFFF:c000:0201': '192.0.2.1',
    '0:0:0:0:0:ffff:c000:201': '192.0.2.1',
    '::1': '0:0:0:0::/64',
    '::': '0:0:0:0::/64',
    '2001:db8::': '2001:db8:0:0::/64',
    '2001:DB8:0001:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:1:2:ffff::': '2001:db8:1:2::/64',
    '2001:db8:1:3::': '2001:db8:1:3::/64',
    '1:2:3:4:5:6:7::': '1:2:3:4::/64',
    '64:ff9b::192.0.2.1': '64:ff9b:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64'
  }
  for (const [ip, expected] of Object.entries(networks)) t.equal(network(ip), expected, ip)
})

t.test('any spelling of an IPv6 address counts for the same network', async () => {
  const group = fc.oneof(fc.constant(0), fc.nat(0xffff))
  fc.assert(fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), groups => {
    // Addresses that begin with zeros may contain IPv4.
    const texts = [groups[0] || 0x2001, ...groups.slice(1)].map(group => group.toString(16))
    const full = texts.map(text => text.toUpperCase().padStart(4, '0')).join(':')
    const { hostname } = new URL(`http://[${full}]`)
    const expected = `${texts.slice(0, 4).join(':')}::/64`
    return network(full) === expected && network(hostname.slice(1, -1)) === expected
  }), { numRuns: 1000 })
})

t.test('the zone of an address does not count', async t => {
  const zone = '2001:0db8:0000:0000:0000:ffff:255.255.255.255%eth0'
  t.equal(network(zone), '2001:db8:0:0::/64')
  t.equal(network(`fe80::1%${'x'.repeat(1000)}`), network('fe80::2'))
})

t.test('text of a proxy that is no address counts for the proxy', async t => {
  for (const text of ['', 'unknown', '198.51.100.7:4711', '1'.repeat(10_000)]) {
    t.equal(network(text), '192.0.2.99')
  }
  const closed = { ip: '', socket: { remoteAddress: undefined } }
  t.equal(networkOf(closed), 'closed connections', 'a connection that has ended')
})

t.test('of a long X-Forwarded-For only the last 512 bytes count', async t => {
  const shortened = (field: string) => {
    const request = { headers: { 'x-forwarded-for': field } }
    tidyForwardedFor(request)
    return request.headers['x-forwarded-for']
  }
  t.equal(shortened('192.0.2.1'), '192.0.2.1')
  t.equal(shortened('1'.repeat(512)), '1'.repeat(512))
  t.equal(shortened(`${'1'.repeat(16_000)},192.0.2.1`), '192.0.2.1')
  t.equal(shortened('1'.repeat(16_000)), '1'.repeat(512), 'no address')
  t.equal(shortened('10.0.0.1,'.repeat(700)), '10.0.0.1,'.repeat(56))
  t.equal(
    shortened('192.0.2.1:5555, [2001:db8::1]:80,[fe80::1%eth0], ::ffff:192.0.2.1'),
    '192.0.2.1, 2001:db8::1,fe80::1%eth0, ::ffff:192.0.2.1', 'without ports'
  )
  const none = { headers: {} }
  tidyForwardedFor(none)
  t.strictSame(none.headers, {})
})

t.test('the service reads only that end', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log, trustProxy: ['0.0.0.0/1', '128.0.0.0/1'] })
  const { port } = await listen(app)
  for (const [hop, nth] of [['10.0.0.1', 700], ['10.0.0.2', 2]] as const) {
    const field = `X-Forwarded-For: 192.0.2.1${`,${hop}`.repeat(nth)}`
    await exchange(port, requestText('GET /x', ['Host: x', 'Connection: close', field, '', '']))
  }
  const addresses = lines.map(line => JSON.parse(line).address)
  t.strictSame(addresses, ['10.0.0.1', '192.0.2.1'])
})
