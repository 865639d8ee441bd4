/** Shows one document to one of the demo's users: an editor and its history, comments, present users and notifications. */
import type { LiveStatus } from '../../../../../lib/client/liveDocument.ts';
import { createUserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, type DemoUser, demoUsers, type TokenAnswer, type TokenRequest } from '../../demoDocument.ts';
import { byId, setText } from '../dom.ts';
import { HistoryPanel } from './history.ts';
import { NotificationList } from './notifications.ts';
import { showPeople, showUserLinks } from './people.ts';
import { showTextEditor } from './textEditor.ts';
import { ThreadList } from './threads.ts';

const statusTexts: Readonly<Record<LiveStatus, string>> = {
  connecting: 'Connecting …',
  live: 'Connected',
  offline: 'Offline. Your edits are kept and sent later.',
  denied: 'No access',
  migrated: 'This document has another id now. Open it again.',
  closed: 'Closed',
};

/** In a real application, the token comes from the server of the application. */
async function fetchToken({ userId }: DemoUser): Promise<string> {
  const response = await fetch('demo/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ userId } satisfies TokenRequest),
  });
  if (!response.ok) throw new Error(`The token request failed with ${response.status}`);
  const { token } = (await response.json()) as TokenAnswer;
  return token;
}

function showDemo(user: DemoUser): void {
  const client = createUserClient({ baseUrl: location.origin, token: () => fetchToken(user) });
  const live = client.live(demoDocument);
  document.title = `Demo: ${user.name}`;

  const notifications = new NotificationList({ client, user, report: reportError });
  const refreshNotifications = () => void notifications.refresh();
  const editor = showTextEditor(client, user, () => threads.showQuote());
  const threads = new ThreadList({ client, live, user, editor, report: reportError });
  new HistoryPanel({ provider: editor.provider, report: reportError });
  const refreshThreads = () => void threads.refresh();

  live.on('status', showStatus);
  live.on('presence', showPeople);
  live.on('comment', refreshThreads);
  live.on('notification', refreshNotifications);
  live.on('reload', () => {
    refreshThreads();
    refreshNotifications();
  });
  live.presence.set({ name: user.name, email: user.email });
  editor.provider.on('synced', (isSynced) => isSynced && unlock());
  editor.provider.on('rejected', (error) => {
    // Later edits would not be saved.
    editor.stop();
    unlock();
    reportError(error);
  });

  function reportError(error: unknown): void {
    if (live.status === 'denied') return;
    setText(byId('problem'), error instanceof Error ? error.message : String(error));
  }

  function showStatus(status: LiveStatus): void {
    setText(byId('status'), statusTexts[status]);
    if (status === 'live') setText(byId('problem'), '');
    if (status !== 'denied') return;
    editor.stop();
    showPeople([]);
    document.querySelector('main')?.remove();
    setText(byId('problem'), `${user.name} has no access to this document.`);
  }
}

function unlock(): void {
  const main = document.querySelector('main');
  if (main?.inert) Object.assign(main, { inert: false, ariaBusy: 'false' });
}

const requested = new URLSearchParams(location.search).get('user');
const user = requested === null ? demoUsers[0] : demoUsers.find(({ userId }) => userId === requested);
showUserLinks(user?.userId);
if (user) showDemo(user);
else {
  document.querySelector('main')?.remove();
  setText(byId('status'), 'Not connected');
  setText(byId('problem'), `The demo has no user ${requested}. Choose one of its users above.`);
}
