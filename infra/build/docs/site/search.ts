import MiniSearch from 'minisearch';
import { type Place, searchOptions } from '../searchOptions.ts';

const RESULTS = 12;

/** Loads the index when the reader enters the field. */
export function setUpSearch(): void {
  const input = document.querySelector<HTMLInputElement>('#docs-search');
  const list = document.querySelector<HTMLElement>('#docs-found');
  const count = document.querySelector('#docs-found-count');
  if (!input || !list || !count) return;
  let index: Promise<MiniSearch<Place>> | undefined;
  const show = async () => {
    const query = input.value.trim();
    index ??= loadIndex();
    const loaded = await index.catch(() => (index = undefined));
    if (query !== input.value.trim()) return;
    if (!loaded) count.textContent = 'The search does not answer. Try again.';
    const found = query === '' || !loaded ? [] : loaded.search(query);
    list.replaceChildren(
      ...found.slice(0, RESULTS).map(({ id, title, page }) => result(String(id), String(title), String(page))),
    );
    list.hidden = found.length === 0;
    if (loaded) count.textContent = query === '' ? '' : `${found.length} found`;
  };
  input.addEventListener('focus', () => void show());
  input.addEventListener('input', () => void show());
  input.closest('search')?.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    input.value = '';
    void show();
  });
}

async function loadIndex(): Promise<MiniSearch<Place>> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return MiniSearch.loadJSON(await response.text(), searchOptions);
}

function result(href: string, title: string, page: string): HTMLElement {
  const item = document.createElement('li');
  const link = Object.assign(document.createElement('a'), { href, textContent: title });
  const where = Object.assign(document.createElement('span'), { textContent: title === page ? '' : ` ${page}` });
  item.append(link, where);
  return item;
}
