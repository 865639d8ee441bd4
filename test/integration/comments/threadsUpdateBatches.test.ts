import { expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { startRecorder } from '../../support/capacity.ts';
import { nda } from '../../support/content.ts';
import { ada, addThreads, numbered } from '../../support/threads.ts';

const { customer } = acmeWorld({});
const recorder = forAllTests(startRecorder);

test('commentannotations/update changes many threads in batches, so that not all changes are in memory at once', async () => {
  await addThreads(customer, numbered('t', 60));
  const updatedData = { assignedTo: { userId: 'zoe' } };
  const { calls } = await recorder.record(() =>
    customer.ok('/v2/commentannotations/update', { ...nda, userIds: [ada.userId], updatedData }),
  );
  const operations = calls.map(({ operation }) => operation);
  expect(operations.lastIndexOf('BatchGetItem')).toBeGreaterThan(operations.indexOf('TransactWriteItems'));
});
