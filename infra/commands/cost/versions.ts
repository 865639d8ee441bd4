import { costOfCall } from '../../cost/calls.ts';

/** A version of a text, and a restore by which half of the text comes back, as `npm run bench versions` measures them. */
const consumptionBySize = [
  ['10 KB', { roundTrips: 6, read: 7, written: 10 }, { roundTrips: 8, read: 10, written: 17 }],
  ['500 KB', { roundTrips: 6, read: 51, written: 187 }, { roundTrips: 8, read: 169, written: 378 }],
  ['4 MB', { roundTrips: 8, read: 452, written: 1446 }, { roundTrips: 10, read: 1358, written: 2897 }],
] as const;

/** Dollars of a million. */
export function versionCosts(): [subject: string, dollars: number][] {
  return consumptionBySize.flatMap(([size, version, restore]) => [
    [`versions of an editor with ${size} of text`, costOfCall('/v2/crdt/versions/add', version).total],
    [
      `restores of half of ${size} of text, with the kept version`,
      costOfCall('/v2/crdt/versions/restore', restore, { sends: true }).total,
    ],
  ]);
}
