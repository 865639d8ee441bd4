import type { EditorProvider } from '../../../../../lib/client/editorProvider.ts';
import type { EditorVersion, VersionPreview } from '../../../../../lib/client/editorVersions.ts';
import { pages } from '../../../../../lib/client/pages.ts';
import { demoEditor, demoUsers } from '../../demoDocument.ts';
import { byId, element, setChildren, setText } from '../dom.ts';
import { type Segment, segmentsOf } from './differences.ts';

const PAGE_SIZE = 20;
const clock = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const tagOf = { both: 'span', version: 'ins', now: 'del' } as const satisfies Record<Segment['where'], string>;

export interface HistoryOptions {
  readonly provider: EditorProvider;
  readonly report: (error: unknown) => void;
}

const OWN_HINT_MILLISECONDS = 5_000;

/** Reads nothing while it is closed. */
export class HistoryPanel {
  readonly #provider: EditorProvider;
  readonly #report: (error: unknown) => void;
  #shownCount = PAGE_SIZE;
  readonly #items = new Map<string, HTMLLIElement>();
  #reads = 0;
  #previews = 0;
  #shown: VersionPreview | undefined;
  /** The versions that this page restores. The event of a restore can come before or after its answer. */
  readonly #ownRestores = new Set<string>();

  constructor({ provider, report }: HistoryOptions) {
    this.#provider = provider;
    this.#report = report;
    const on = (id: string, event: string, action: () => void | Promise<void>) =>
      byId(id).addEventListener(event, () => void Promise.resolve(action()).catch(report));
    on('history-toggle', 'click', () => this.#toggle());
    on('named-only', 'change', () => this.#refresh());
    on('more-versions', 'click', () => {
      this.#shownCount += PAGE_SIZE;
      return this.#refresh();
    });
    on('restore', 'click', () => this.#restore());
    on('close-preview', 'click', () => this.#closePreview());
    byId('preview').addEventListener('keydown', ({ key }) => key === 'Escape' && this.#closePreview());
    byId('keep-version').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#keep().catch(report);
    });
    provider.on('restored', ({ versionId }) => void this.#showRestored(versionId).catch(report));
  }

  async #toggle(): Promise<void> {
    const history = byId('history');
    history.hidden = !history.hidden;
    byId('history-toggle').ariaExpanded = String(!history.hidden);
    if (history.hidden) return;
    await this.#refresh();
    history.scrollIntoView({ block: 'nearest' });
  }

  /** Only the last of several reads is shown. */
  async #refresh(): Promise<void> {
    if (byId('history').hidden) return;
    const read = ++this.#reads;
    const named = (byId('named-only') as HTMLInputElement).checked || undefined;
    const versions: EditorVersion[] = [];
    let hasMore = false;
    for await (const page of pages(this.#provider.versions.list, { named, pageSize: PAGE_SIZE })) {
      versions.push(...page.versions);
      hasMore = page.nextPageToken !== null;
      if (versions.length >= this.#shownCount) break;
    }
    if (read !== this.#reads) return;
    const focused = document.activeElement as HTMLElement | null;
    const items = versions.map((version) => this.#itemOf(version));
    setChildren(byId('versions'), items);
    if (items.some((item) => item.contains(focused))) focused?.focus();
    byId('no-version').hidden = versions.length > 0;
    byId('more-versions').hidden = !hasMore;
  }

  /** The element of a version stays, and with it the focus. */
  #itemOf({ versionId, createdAt, authors, ...version }: EditorVersion): HTMLLIElement {
    const item = this.#items.get(versionId) ?? element('li', { role: 'listitem' }, this.#newButton(versionId));
    this.#items.set(versionId, item);
    const names = authors.map((id) => demoUsers.find(({ userId }) => userId === id)?.name ?? id);
    const button = item.firstElementChild as HTMLElement;
    if (versionId === this.#shown?.version.versionId) button.setAttribute('aria-current', 'true');
    else button.removeAttribute('aria-current');
    button.replaceChildren(
      element('span', { class: 'title' }, titleOf(version)),
      ' ',
      element('time', { class: 'note', datetime: createdAt }, timeOf({ createdAt })),
      ' ',
      element('span', { class: 'note' }, names.join(', ')),
    );
    return item;
  }

  #newButton(versionId: string): HTMLButtonElement {
    const button = element('button', { type: 'button', class: 'version' });
    button.addEventListener('click', () => void this.#preview(versionId).catch(this.#report));
    return button;
  }

  async #keep(): Promise<void> {
    const input = byId('version-name') as HTMLInputElement;
    const name = input.value.trim();
    if (name === '') return;
    input.value = '';
    await this.#provider.versions.add({ name });
    setText(byId('history-news'), `The version “${name}” is kept.`);
    await this.#refresh();
  }

  async #preview(versionId: string): Promise<void> {
    const { versions } = this.#provider;
    const read = ++this.#previews;
    const [preview, { operations = [], truncated }] = await Promise.all([
      versions.preview(versionId),
      versions.compare(versionId),
    ]);
    if (read !== this.#previews) return;
    this.#shown = preview;
    const segments = segmentsOf(preview.doc.getText(demoEditor.contentKey).toJSON(), operations);
    const isSame = segments.every(({ where }) => where === 'both');
    setText(byId('preview-heading'), `${titleOf(preview.version)}, ${timeOf(preview.version)}`);
    setText(
      byId('preview-note'),
      truncated
        ? 'Too much is different: not every difference to now is marked.'
        : isSame
          ? 'No difference to now.'
          : 'A restore brings the underlined text back, and removes the struck-through text.',
    );
    byId('preview-text').replaceChildren(...segments.map(({ text, where }) => element(tagOf[where], {}, text)));
    byId('restore').hidden = isSame;
    byId('preview').hidden = false;
    byId('preview-heading').focus();
    await this.#refresh();
  }

  #closePreview(): void {
    this.#shown = undefined;
    byId('preview').hidden = true;
    byId('history-heading').focus();
    this.#refresh().catch(this.#report);
  }

  async #restore(): Promise<void> {
    const version = this.#shown?.version;
    if (!version || this.#ownRestores.has(version.versionId)) return;
    this.#ownRestores.add(version.versionId);
    const forget = () => this.#ownRestores.delete(version.versionId);
    try {
      const { keptVersionId } = await this.#provider.versions.restore(version.versionId);
      const isChanged = keptVersionId !== null;
      // The hint of the own restore comes shortly before or after the answer.
      setTimeout(forget, isChanged ? OWN_HINT_MILLISECONDS : 0);
      const news = isChanged ? 'The text before is kept as “Before restore”.' : 'The text is the same already.';
      setText(byId('history-news'), `You restored ${nameOf(version)}. ${news}`);
    } catch (error) {
      forget();
      throw error;
    }
    this.#closePreview();
  }

  async #showRestored(versionId: string): Promise<void> {
    if (this.#ownRestores.delete(versionId)) return;
    const { versions } = await this.#provider.versions.list();
    const version = versions.find((listed) => listed.versionId === versionId);
    const name = version ? nameOf(version) : 'an older version';
    setText(byId('history-news'), `Another user restored ${name}. The text before is kept as “Before restore”.`);
    await this.#refresh();
  }
}

function titleOf({ name }: Pick<EditorVersion, 'name'>): string {
  return name ?? 'Automatic version';
}

function nameOf(version: EditorVersion): string {
  return version.name === undefined ? `the version of ${timeOf(version)}` : `“${version.name}”`;
}

function timeOf({ createdAt }: Pick<EditorVersion, 'createdAt'>): string {
  return clock.format(Date.parse(createdAt));
}
