import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { sourceOf } from '../../../lib/net/sourceOf.ts';
import { testProperty } from '../../support/testProperty.ts';

describe('the source of a call', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0000::a:b:c:d:e', '2001:db8:0:a::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('of %s is %s', (sourceIp, source) => {
    expect(sourceOf(sourceIp)).toBe(source);
  });

  const groups = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff })), {
    minLength: 8,
    maxLength: 8,
  });
  testProperty('is the /64 network of an IPv6 address in any notation', [groups], (parts) => {
    const ip = new ipaddr.IPv6(parts);
    const network = `${parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
    return [
      ip.toString(),
      ip.toNormalizedString(),
      parts.map((part) => part.toString(16).padStart(4, '0')).join(':'),
    ].every((text) => sourceOf(text) === network);
  });
});
