import { nda } from './content.ts';
import type { Customer } from './customer.ts';
import { addThreads, comment, thread } from './threads.ts';

const ada = { userId: 'ada' };
const grace = { userId: 'grace' };

/** Returns a recording at a location, in the form of requests. */
export const recording = (annotationId: string, location?: object) => ({
  annotationId,
  recordingType: 'audio',
  from: ada,
  location,
});

/**
 * Adds one record of each kind at a location of the document `nda`, or of `scope`: the thread `t`, the reactions `on`
 * (which is on the thread) and `own`, the recording `rec` and the notification `n`. `suffix` is the end of their ids.
 */
export async function addRecords(customer: Customer, location: object, scope: object = {}, suffix = ''): Promise<void> {
  const document = { ...nda, ...scope };
  const [t, on, own, rec, n] = ['t', 'on', 'own', 'rec', 'n'].map((id) => id + suffix) as [string, ...string[]];
  const commentData = [comment({ from: ada }), comment({ from: grace })];
  await addThreads(customer, [thread(t, { location, commentData })], document);
  await customer.addReactions(
    [
      { annotationId: on, icon: 'heart', from: ada, commentAnnotationId: t, commentId: 1 },
      { annotationId: own, icon: 'heart', from: ada, location },
    ],
    document,
  );
  await customer.addRecordings([recording(rec!, location)], document);
  await customer.ok('/v2/notifications/add', {
    ...document,
    notificationId: n,
    actionUser: ada,
    notifyUsers: [grace],
    displayHeadlineMessageTemplate: 'x',
    displayBodyMessage: 'y',
    location,
  });
}
