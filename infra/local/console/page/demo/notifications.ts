import { pages } from '../../../../../lib/client/pages.ts';
import type { UserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, type DemoUser, demoUsers } from '../../demoDocument.ts';
import { byId, element, setText } from '../dom.ts';
import { isMentioned } from './mentions.ts';
import { refreshing } from './refreshing.ts';

interface Notification {
  readonly id: string;
  readonly actionUser: { readonly userId: string; readonly name?: string | undefined };
  readonly displayHeadlineMessageTemplate?: string | undefined;
  readonly notificationSourceData?: Readonly<Record<string, unknown>> | undefined;
  readonly readByUserIds?: readonly string[] | undefined;
}

export interface NotificationListOptions {
  readonly client: UserClient;
  readonly user: DemoUser;
  readonly report: (error: unknown) => void;
}

const MAX_SHOWN = 20;
const TONE_HERTZ = 880;
const TONE_SECONDS = 0.15;

/** The badge counts what is unread, also what the list does not show. It is the same on all devices of the user. */
export class NotificationList {
  readonly #options: NotificationListOptions;
  readonly #knownIds = new Set<string>();
  #hasRead = false;
  #ringingId: string | undefined;
  readonly refresh: () => Promise<void>;

  constructor(options: NotificationListOptions) {
    this.#options = options;
    this.refresh = refreshing(() => this.#read(), options.report);
    byId('bell').addEventListener('click', () => this.#toggle());
    byId('read-all').addEventListener('click', () => void this.#markAllAsRead().catch(options.report));
    byId('notifications').addEventListener('keydown', closeOnEscape);
    byId('bell').addEventListener('keydown', closeOnEscape);
  }

  get #inbox() {
    return { organizationId: demoDocument.organizationId, userId: this.#options.user.userId };
  }

  /** At the first read, no notification rings. */
  async #read(): Promise<void> {
    const { count, get } = this.#options.client.v2.notifications;
    const [{ data: counted }, { data }] = await Promise.all([
      count.get(this.#inbox),
      get({ ...this.#inbox, pageSize: MAX_SHOWN }),
    ]);
    this.#showCount(counted.unread.all, counted.more);
    const notifications: readonly Notification[] = data;
    byId('notification-list').replaceChildren(
      ...notifications.map((notification) =>
        element(
          'li',
          {},
          this.#textOf(notification),
          ...(this.#isUnread(notification) ? [' ', element('span', { class: 'mark' }, 'Unread')] : []),
        ),
      ),
    );
    byId('no-notification').hidden = notifications.length > 0;
    this.#ringFor(notifications);
  }

  #ringFor(notifications: readonly Notification[]): void {
    const unread = notifications.filter((notification) => this.#isUnread(notification));
    const [newest] = notifications;
    if (this.#hasRead && newest && unread.includes(newest) && !this.#knownIds.has(newest.id)) {
      this.#ringingId = newest.id;
      setText(byId('ring'), this.#textOf(newest));
      byId('bell').classList.add('rings');
      playTone();
    } else if (!unread.some(({ id }) => id === this.#ringingId)) this.#stopRinging();
    for (const { id } of notifications) this.#knownIds.add(id);
    this.#hasRead = true;
  }

  #stopRinging(): void {
    this.#ringingId = undefined;
    setText(byId('ring'), '');
    byId('bell').classList.remove('rings');
  }

  #toggle(): void {
    const list = byId('notifications');
    list.hidden = !list.hidden;
    byId('bell').ariaExpanded = String(!list.hidden);
    this.#stopRinging();
  }

  async #markAllAsRead(): Promise<void> {
    const { update } = this.#options.client.v2.notifications;
    for await (const _ of pages(update, { ...this.#inbox, markAllAsRead: true }));
    await this.refresh();
  }

  #showCount(count: number, more: boolean): void {
    const shown = `${count}${more ? '+' : ''}`;
    const hasUnread = count > 0;
    setText(byId('badge'), shown);
    byId('badge').hidden = !hasUnread;
    byId('bell').ariaLabel = hasUnread ? `Notifications, ${shown} unread` : null;
    document.title = `${hasUnread ? `(${shown}) ` : ''}Demo: ${this.#options.user.name}`;
  }

  /** The answer lists only notifications that are for the user. */
  #isUnread({ actionUser, readByUserIds = [] }: Notification): boolean {
    const { userId } = this.#options.user;
    return actionUser.userId !== userId && !readByUserIds.includes(userId);
  }

  #textOf({ actionUser, displayHeadlineMessageTemplate = '', notificationSourceData = {} }: Notification): string {
    const { commentText } = notificationSourceData;
    const text = typeof commentText === 'string' ? commentText : '';
    const name = actionUser.name ?? demoUsers.find(({ userId }) => userId === actionUser.userId)?.name ?? 'A user';
    const headline = isMentioned(this.#options.user.userId, text)
      ? `${name} mentioned you`
      : displayHeadlineMessageTemplate.replace('{actionUser}', () => name);
    return text === '' ? headline : `${headline}: ${text}`;
  }
}

function closeOnEscape(event: KeyboardEvent): void {
  if (event.key !== 'Escape' || byId('notifications').hidden) return;
  byId('notifications').hidden = true;
  byId('bell').ariaExpanded = 'false';
  byId('bell').focus();
}

/** Browsers allow no sound before the user has used the page. */
function playTone(): void {
  if (!navigator.userActivation.hasBeenActive) return;
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: TONE_HERTZ });
  tone.connect(new GainNode(context, { gain: 0.05 })).connect(context.destination);
  tone.addEventListener('ended', () => void context.close());
  tone.start();
  tone.stop(context.currentTime + TONE_SECONDS);
}
