import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { expiryOf, findSurplus, versionLimits } from '../../../lib/editors/rules/versionLife.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const noon = Date.UTC(2026, 2, 10, 12);
const on = { keepDays: 90, keepNamed: true };
const automatic = { createdAt: noon, isAutomatic: true };
const named = { createdAt: noon, isAutomatic: false };
const kept = { ...automatic, restoredVersionId: 'ver_1' };
const thisHour = noon + 10 * 60_000;
const endOf = { 90: 90 * DAY, 30: 30 * DAY, 7: 7 * DAY, 2: 2 * DAY, 1: DAY };

describe('expiryOf', () => {
  test.each([
    ['the first of its hour, within few days', automatic, noon - 60_000, { ...on, keepDays: 2 }, endOf[2]],
    [
      'another of its hour, within a day',
      { ...automatic, createdAt: thisHour },
      noon,
      { ...on, keepDays: 1 },
      endOf[1],
    ],
    ['a named one', named, noon - 60_000, on, undefined],
    ['a named one, if named ones end', named, noon - 60_000, { ...on, keepNamed: false }, endOf[90]],
    ['one of a restore that would end after a day', { ...kept, createdAt: thisHour }, noon, on, endOf[30]],
    ['one of a restore, the first of its day', kept, undefined, on, endOf[90]],
    ['one of a restore, within few days', kept, undefined, { ...on, keepDays: 2 }, endOf[30]],
    ['one of a restore, without the setting', kept, undefined, undefined, endOf[30]],
    ['an automatic one, without the setting', automatic, noon, undefined, undefined],
    ['a named one, without the setting', named, noon, undefined, undefined],
  ])('%s', (_title, version, before, settings, life) => {
    expect(expiryOf(version, before, settings)).toBe(life === undefined ? undefined : version.createdAt + life);
  });

  const gaps = fc.array(fc.integer({ min: 1_000, max: 3 * HOUR }), { minLength: 50, maxLength: 300 });
  testProperty(
    'leaves all of a day, one of each hour for a week, and one of each day to the end',
    [gaps, fc.integer({ min: 0, max: 12 * DAY })],
    (steps, later) => {
      let at = noon;
      const versions: { createdAt: number; expiresAt: number }[] = [];
      for (const step of steps) {
        const before = versions.at(-1)?.createdAt;
        versions.push({ createdAt: at, expiresAt: expiryOf({ createdAt: at, isAutomatic: true }, before, on)! });
        at += step;
      }
      const now = versions.at(-1)!.createdAt + later;
      const living = new Set(versions.filter(({ expiresAt }) => expiresAt > now));
      const firsts = (unit: number, age: number) =>
        versions.filter(
          ({ createdAt }, index) =>
            now < createdAt + age &&
            Math.floor(createdAt / unit) !== Math.floor((versions[index - 1]?.createdAt ?? -1) / unit),
        );
      const expected = [
        ...versions.filter(({ createdAt }) => now < createdAt + DAY),
        ...firsts(HOUR, 7 * DAY),
        ...firsts(DAY, 90 * DAY),
      ];
      expect(living).toEqual(new Set(expected));
      return true;
    },
  );
});

describe('findSurplus', () => {
  const MB = 1024 * 1024;
  const version = (id: string, fields: object = {}) => ({
    ...automatic,
    versionId: id,
    blob: { id },
    bytes: 20 * MB,
    ...fields,
  });
  const idsOf = (versions: readonly ReturnType<typeof version>[]) => versions.map(({ blob }) => blob.id);
  const added = { isAutomatic: true, bytes: 20 * MB, now: noon + DAY };
  const three = [version('c'), version('b'), version('a')];

  test('returns nothing below the limit', () => {
    expect(findSurplus(three.slice(1), added)).toEqual([]);
    expect(findSurplus(three, { ...added, bytes: 4 * MB - 1_500 })).toEqual([]);
  });

  test('returns the oldest automatic versions, as few as needed', () => {
    expect(idsOf(findSurplus(three, added))).toEqual(['a']);
    expect(idsOf(findSurplus(three, { ...added, bytes: 4 * MB - 1_499 }))).toEqual(['a']);
    expect(idsOf(findSurplus(three, { ...added, bytes: 30 * MB }))).toEqual(['a', 'b']);
  });

  test('passes named versions, and for thirty days those of a restore', () => {
    const protectedOnes = [
      version('c'),
      version('b', { restoredVersionId: 'x' }),
      version('a', { isAutomatic: false }),
    ];
    expect(idsOf(findSurplus(protectedOnes, added))).toEqual(['c']);
    expect(idsOf(findSurplus(protectedOnes, { ...added, now: noon + 30 * DAY }))).toEqual(['b']);
    expect(idsOf(findSurplus(three, { ...added, kept: 'a' }))).toEqual(['b']);
  });

  test('passes a version whose blob a named version has, because its removal frees nothing', () => {
    const versions = [
      version('b'),
      version('a'),
      { ...version('a'), versionId: 'named', isAutomatic: false },
      version('c'),
    ];
    expect(idsOf(findSurplus(versions, added))).toEqual(['c']);
    expect(idsOf(findSurplus(versions.slice(0, 3), { ...added, bytes: 30 * MB }))).toEqual(['b']);
  });

  test('counts metadata', () => {
    const metadata = 'x'.repeat(4 * MB);
    expect(idsOf(findSurplus([version('c', { metadata }), version('b')], { ...added, bytes: 19 * MB }))).toEqual([]);
    expect(idsOf(findSurplus([version('c', { metadata }), version('b')], { ...added, bytes: 22 * MB }))).toEqual(['b']);
  });

  test('counts a shared blob once, and frees it with the last version that has it', () => {
    const shared = [version('b'), version('b'), version('a'), version('a')];
    expect(findSurplus(shared, added)).toEqual([]);
    expect(idsOf(findSurplus(shared, { ...added, bytes: 30 * MB }))).toEqual(['a', 'a']);
  });

  test('throws RESOURCE_EXHAUSTED if the others must stay', () => {
    const staying = three.map((one) => ({ ...one, isAutomatic: false }));
    expect(() => findSurplus(staying, added)).toThrow(/at most 67108864 bytes/);
  });

  test('throws RESOURCE_EXHAUSTED for a named version too many, but not for an automatic one', () => {
    const full = times(versionLimits.named, (n) => version(`v${n}`, { isAutomatic: false, bytes: 1 }));
    expect(() => findSurplus(full, { ...added, isAutomatic: false, bytes: 1 })).toThrow(/at most 200 named/);
    expect(findSurplus(full, { ...added, bytes: 1 })).toEqual([]);
    expect(findSurplus(full.slice(1), { ...added, isAutomatic: false, bytes: 1 })).toEqual([]);
  });
});
