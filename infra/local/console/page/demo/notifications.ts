import type { UserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, type DemoUser, demoUsers } from '../../demoDocument.ts';
import { byId, element, setText } from '../dom.ts';
import { isMentioned } from './mentions.ts';

interface Notification {
  readonly id: string;
  readonly actionUser: { readonly userId: string; readonly name?: string | undefined };
  readonly displayHeadlineMessageTemplate?: string | undefined;
  readonly notificationSourceData?: Readonly<Record<string, unknown>> | undefined;
}

const MAX_SHOWN = 20;
const TONE_HERTZ = 880;
const TONE_SECONDS = 0.15;

/** A notification that arrives while the page is open counts as new until the user next presses the bell. */
export class NotificationList {
  readonly #client: UserClient;
  readonly #user: DemoUser;
  readonly #seenIds = new Set<string>();
  #hasRead = false;
  #newCount = 0;

  constructor(client: UserClient, user: DemoUser) {
    this.#client = client;
    this.#user = user;
    byId('bell').addEventListener('click', () => this.#toggle());
    byId('notifications').addEventListener('keydown', closeOnEscape);
    byId('bell').addEventListener('keydown', closeOnEscape);
  }

  /** At the first read, no notification counts as new. */
  async refresh(): Promise<void> {
    const { data } = await this.#client.v2.notifications.get({
      organizationId: demoDocument.organizationId,
      userId: this.#user.userId,
      pageSize: MAX_SHOWN,
    });
    const notifications: readonly Notification[] = data;
    const added = notifications.filter(({ id }) => !this.#seenIds.has(id));
    for (const { id } of added) this.#seenIds.add(id);
    const texts = notifications.map((notification) => this.#textOf(notification));
    byId('notification-list').replaceChildren(...texts.map((text) => element('li', {}, text)));
    byId('no-notification').hidden = texts.length > 0;
    const [newest] = added;
    if (this.#hasRead && newest) this.#ring(this.#textOf(newest), added.length);
    this.#hasRead = true;
  }

  #ring(text: string, count: number): void {
    this.#newCount += count;
    setText(byId('ring'), text);
    this.#showCount();
    playTone();
  }

  #toggle(): void {
    const list = byId('notifications');
    list.hidden = !list.hidden;
    byId('bell').ariaExpanded = String(!list.hidden);
    this.#newCount = 0;
    setText(byId('ring'), '');
    this.#showCount();
  }

  #showCount(): void {
    const hasNew = this.#newCount > 0;
    setText(byId('bell'), hasNew ? `Notifications, ${this.#newCount} new` : 'Notifications');
    byId('bell').classList.toggle('rings', hasNew);
    document.title = `${hasNew ? `(${this.#newCount}) ` : ''}Demo: ${this.#user.name}`;
  }

  #textOf({ actionUser, displayHeadlineMessageTemplate = '', notificationSourceData = {} }: Notification): string {
    const { commentText } = notificationSourceData;
    const text = typeof commentText === 'string' ? commentText : '';
    const name = actionUser.name ?? demoUsers.find(({ userId }) => userId === actionUser.userId)?.name ?? 'A user';
    const headline = isMentioned(this.#user.userId, text)
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
