import type { LiveDocument } from '../../../../../lib/client/liveDocument.ts';
import type { UserClient } from '../../../../../lib/client/userClient.ts';
import { demoDocument, type DemoUser } from '../../demoDocument.ts';
import { byId, element, setChildren, setText } from '../dom.ts';
import type { Anchor, MarkedThread } from './commentMarks.ts';
import { addMentionPicker } from './mentionPicker.ts';
import { isMentioned, mentionsIn, otherUsers } from './mentions.ts';
import { refreshing } from './refreshing.ts';
import { Sight } from './sight.ts';
import type { TextEditor } from './textEditor.ts';

interface Person {
  readonly userId: string;
  readonly name?: string | undefined;
}

interface Thread {
  readonly annotationId: string;
  readonly status: Readonly<Record<string, unknown>>;
  readonly comments: readonly {
    readonly commentId: number;
    readonly commentText?: string | undefined;
    readonly from: Person;
    readonly createdAt: number;
  }[];
  readonly targetElement?: Readonly<Record<string, unknown>> | undefined;
  readonly unread?: boolean | undefined;
  readonly firstUnreadCommentId?: number | undefined;
}

/** The elements stay when the thread changes, and with them the focus and an unfinished reply. */
interface ThreadView {
  readonly item: HTMLLIElement;
  /** Stands below the newest comment, so a user who sees it has seen the thread. */
  readonly end: HTMLElement;
  readonly show: (thread: Thread) => void;
}

export interface ThreadListOptions {
  readonly client: UserClient;
  readonly live: LiveDocument;
  readonly user: DemoUser;
  /** A new thread quotes the text that is selected here. */
  readonly editor: TextEditor;
  readonly report: (error: unknown) => void;
}

const QUOTE_CHARACTERS = 200;

export class ThreadList {
  readonly #options: ThreadListOptions;
  readonly #views = new Map<string, ThreadView>();
  readonly #knownComments = new Set<string>();
  readonly #sight = new Sight((elements) => this.#markSeen(elements));
  #unreadIds: ReadonlySet<string> = new Set();
  #hasRead = false;
  readonly refresh: () => Promise<void>;

  constructor(options: ThreadListOptions) {
    this.#options = options;
    this.refresh = refreshing(() => this.#read(), options.report);
    const input = byId('new-comment') as HTMLTextAreaElement;
    addMentionPicker(input, otherUsers(options.user.userId));
    onSubmit(byId('new-thread'), input, (text) => this.#addThread(text), options.report);
  }

  showQuote(): void {
    const quote = this.#quote();
    byId('quote').hidden = quote === '';
    setText(byId('quote'), quote);
  }

  #quote(): string {
    return this.#options.editor.selected().text.trim().slice(0, QUOTE_CHARACTERS);
  }

  async #read(): Promise<void> {
    const { data } = await this.#options.client.v2.commentannotations.get({ ...demoDocument, order: 'desc' });
    const threads = (Array.isArray(data) ? data : []).filter((thread) => thread !== null) as Thread[];
    const ids = new Set(threads.map(({ annotationId }) => annotationId));
    for (const id of this.#views.keys()) if (!ids.has(id)) this.#views.delete(id);
    const items = threads.map((thread) => {
      const view = this.#views.get(thread.annotationId) ?? this.#createView(thread.annotationId);
      this.#views.set(thread.annotationId, view);
      view.show(thread);
      return view.item;
    });
    setChildren(byId('threads'), items);
    byId('no-thread').hidden = items.length > 0;
    this.#unreadIds = new Set(threads.filter(({ unread }) => unread).map(({ annotationId }) => annotationId));
    this.#sight.look();
    this.#options.editor.mark(threads.filter(({ status }) => status.id !== 'RESOLVED').flatMap(markedThreads));
    this.#announceNewComment(threads);
  }

  /** The hint about the view makes all windows of the user read the threads again. */
  #markSeen(elements: ReadonlySet<Element>): void {
    for (const [annotationId, { end }] of this.#views)
      if (this.#unreadIds.has(annotationId) && elements.has(end))
        this.#options.live.thread(annotationId).seen().catch(this.#options.report);
  }

  /**
   * Tells screen readers about the newest comment of another user, but not at the first read. A comment that mentions
   * this user is left out, because its notification is announced.
   */
  #announceNewComment(threads: readonly Thread[]): void {
    const { userId } = this.#options.user;
    const added = threads
      .flatMap(({ annotationId, comments }) =>
        comments.map((comment) => ({ ...comment, key: `${annotationId}/${comment.commentId}` })),
      )
      .filter(({ key }) => !this.#knownComments.has(key));
    for (const { key } of added) this.#knownComments.add(key);
    const newest = added
      .filter(({ from, commentText = '' }) => from.userId !== userId && !isMentioned(userId, commentText))
      .sort((a, b) => a.createdAt - b.createdAt)
      .at(-1);
    if (this.#hasRead && newest)
      setText(byId('news'), `${newest.from.name ?? newest.from.userId} commented: ${newest.commentText ?? ''}`);
    this.#hasRead = true;
  }

  #createView(annotationId: string): ThreadView {
    const { report } = this.#options;
    const quote = element('button', { type: 'button', class: 'quote', title: 'Show the words in the document' });
    let marked: MarkedThread | undefined;
    quote.addEventListener('click', () => {
      if (marked && !this.#options.editor.reveal(marked))
        setText(byId('news'), 'The document does not have these words any more.');
    });
    const comments = element('ol', { 'aria-label': 'Comments of the thread' });
    const input = element('textarea', { rows: '1', 'aria-label': 'Reply' });
    const status = element('button', { type: 'button' });
    const form = element('form', { class: 'reply' }, input, element('button', { type: 'submit' }, 'Reply'), status);
    const item = element('li', { class: 'thread', role: 'listitem' }, quote, comments, form);
    addMentionPicker(input, otherUsers(this.#options.user.userId));
    onSubmit(form, input, (text) => this.#reply(annotationId, text), report);
    this.#sight.watch(form);
    let isResolved = false;
    status.addEventListener('click', () => void this.#setResolved(annotationId, !isResolved).catch(report));
    return {
      item,
      end: form,
      show: (thread) => {
        const [first] = thread.comments;
        isResolved = thread.status.id === 'RESOLVED';
        item.classList.toggle('resolved', isResolved);
        item.classList.toggle('unread', thread.unread === true);
        item.setAttribute('aria-label', `${isResolved ? 'Resolved: ' : ''}${first?.commentText ?? 'Thread'}`);
        setText(status, isResolved ? 'Reopen' : 'Resolve');
        const { targetText } = thread.targetElement ?? {};
        quote.hidden = typeof targetText !== 'string';
        if (typeof targetText === 'string') setText(quote, targetText);
        [marked] = markedThreads(thread);
        quote.disabled = marked === undefined;
        comments.replaceChildren(
          ...thread.comments.map(({ commentId, commentText = '', from, createdAt }) =>
            element(
              'li',
              { class: 'comment' },
              element('span', { class: 'author' }, from.name ?? from.userId),
              element('time', { class: 'when', datetime: new Date(createdAt).toISOString() }, timeOf(createdAt)),
              ...(commentId === thread.firstUnreadCommentId ? [element('span', { class: 'mark' }, 'Unread')] : []),
              element('br'),
              commentText,
            ),
          ),
        );
      },
    };
  }

  async #addThread(text: string): Promise<void> {
    const quote = this.#quote();
    const { anchor } = this.#options.editor.selected();
    await this.#options.client.v2.commentannotations.add({
      ...demoDocument,
      commentAnnotations: [
        {
          commentData: [this.#commentOf(text)],
          ...(quote !== '' && { targetElement: { targetText: quote, ...anchor } }),
        },
      ],
    });
    await this.refresh();
  }

  async #reply(annotationId: string, text: string): Promise<void> {
    await this.#options.client.v2.commentannotations.comments.add({
      ...demoDocument,
      annotationId,
      commentData: [this.#commentOf(text)],
    });
    await this.refresh();
  }

  async #setResolved(annotationId: string, isResolved: boolean): Promise<void> {
    await this.#options.client.v2.commentannotations.update({
      ...demoDocument,
      annotationIds: [annotationId],
      updatedData: { status: isResolved ? 'RESOLVED' : 'OPEN' },
    });
    await this.refresh();
  }

  #commentOf(text: string) {
    const { userId, name, email } = this.#options.user;
    return {
      commentText: text,
      from: { userId, name, email },
      taggedUserContacts: mentionsIn(text),
      triggerNotification: true,
    };
  }
}

/**
 * Calls `send` with the text of a form, on Enter too, and clears the text after success. Shift+Enter starts a new line.
 */
function onSubmit(
  form: HTMLElement,
  input: HTMLTextAreaElement,
  send: (text: string) => Promise<void>,
  report: (error: unknown) => void,
): void {
  let isSending = false;
  const submit = async () => {
    const text = input.value.trim();
    if (text === '' || isSending) return;
    isSending = true;
    try {
      await send(text);
      if (input.value.trim() === text) input.value = '';
    } catch (error) {
      report(error);
    } finally {
      isSending = false;
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  });
}

/** Returns nothing for a thread that is not about words of the document. */
function markedThreads({ annotationId, targetElement: { start, end } = {} }: Thread): MarkedThread[] {
  if (typeof start !== 'string' || typeof end !== 'string') return [];
  const anchor: Anchor = { start, end };
  return [{ annotationId, anchor }];
}

function timeOf(createdAt: number): string {
  return new Date(createdAt).toTimeString().slice(0, 5);
}
