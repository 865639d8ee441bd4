/** Measures the time from the commit of an event to the first byte at its receiver, on an idle system: `npm start`, over HTTP. Takes about 15 s. */
import { startSystem } from '../../e2e/system.ts';
import { printTable, quantile, reached } from '../report.ts';
import { startReceiver } from './receivers.ts';
import { until } from './queue.ts';

const GOAL_P99 = 1_000;
const EVENTS = 150;
const WARM_UP = 10;
const organizationId = 'bench';
const documentId = 'bench';

const receiver = await startReceiver();
const system = await startSystem();
try {
  const post = async (path: string, data: object) => {
    const { status, body } = await system.post(path, data);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  };
  await post('/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Bench' }] });
  await post('/v2/organizations/documents/add', { organizationId, documents: [{ documentId }] });
  await post('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
  await post('/v2/workspace/advancedwebhook/endpoints/create', {
    url: receiver.url('/ok'),
    filterTypes: ['comment_annotation.add'],
  });
  const [answers, arrivals]: [number[], number[]] = [[], []];
  for (let n = 0; n < WARM_UP + EVENTS; n++) {
    await receiver.clear();
    const sentAt = Date.now();
    await post('/v2/commentannotations/add', {
      organizationId,
      documentId,
      commentAnnotations: [
        {
          annotationId: `bench-${n}`,
          commentData: [{ commentText: 'A comment', from: { userId: 'ada' }, triggerNotification: true }],
        },
      ],
    });
    const answeredAt = Date.now();
    let times: number[] = [];
    await until(async () => (times = Object.values((await receiver.came())['/ok']?.times ?? {})).length > 0, 2);
    if (n < WARM_UP) continue;
    answers.push(answeredAt - sentAt);
    // The commit is between the two times. Counting from the earlier one gives an upper bound.
    arrivals.push(times[0]! - sentAt);
  }
  printTable(
    `Request of a comment to first byte at the webhook's receiver, ms, ${EVENTS} one after the other through npm start; goal: p99 under ${GOAL_P99} ms`,
    ['quantile', 'to the answer', 'to the receiver', 'reached'],
    (
      [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const
    ).map(([name, part]) => [
      name,
      quantile(answers, part),
      quantile(arrivals, part),
      name === 'p99' ? reached(quantile(arrivals, part), GOAL_P99) : '',
    ]),
  );
} finally {
  await system.stop();
  await receiver.stop();
}
