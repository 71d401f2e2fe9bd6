import fc from 'fast-check'
import t from 'tap'
import { networkOf } from '../../../src/limits/client-network.ts'

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
