import { registeredEndpoints } from '../../build/registry.ts';
import { costOfCall, costsOfCalls, refusedCall, withIdempotencyKey } from '../../cost/calls.ts';
import { vectorConsumption, vectorDollars } from '../../cost/vectors.ts';
import { deliveryConsumption, deliveryCost } from './deliveries.ts';
import { mailConsumption, mailCost } from './mails.ts';
import { versionCosts } from './versions.ts';

export function frequentCosts(): [subject: string, dollars: number][] {
  const calls = new Map(costsOfCalls(registeredEndpoints()).map(({ name, total }) => [name, total]));
  const call = (name: string) => calls.get(name) ?? NaN;
  const vectors = (name: string) => vectorDollars(vectorConsumption[name] ?? { written: NaN, searched: NaN });
  const [write, consumed] = ['/v2/organizations/update one', { roundTrips: 1, read: 0, written: 1 }];
  return [
    ['reads of one item, of which 1.00 for the gateway', call('/v2/organizations/get by id')],
    ['writes of one item', call(write)],
    ['comments with their event', call('/v2/commentannotations/comments/add one that notifies users')],
    ['views of a thread', call('/v2/commentannotations/views/add one')],
    ["counts of a user's unread notifications", call('/v2/notifications/count/get one')],
    [
      '`Idempotency-Key` headers of writes, in addition',
      costOfCall(write, withIdempotencyKey(consumed)).total - costOfCall(write, consumed).total,
    ],
    ['calls that are refused for an unknown API key', refusedCall.total],
    ...Object.values(deliveryConsumption).map(({ label, consumed: used }): [string, number] => [
      label,
      deliveryCost(used).total,
    ]),
    ...versionCosts(),
    ['writes of one vector, in addition to units', vectors('/v2/memory/judgments/add one')],
    ['searches of few vectors, in addition to units', vectors('/v2/memory/search a document')],
    ...Object.values(mailConsumption).map(({ label, consumed: used }): [string, number] => {
      const { total, ses } = mailCost(used);
      return [ses > 0 ? `${label}, of which ${ses.toFixed(2)} for Amazon SES` : label, total];
    }),
  ];
}
