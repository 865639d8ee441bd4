/** Shows only the endpoints and webhooks that have all words of the filter in their path, name or summary. */
export function setUpFilter(): void {
  const input = document.querySelector<HTMLInputElement>('#filter');
  const status = document.querySelector('#filtered');
  if (!input || !status) return;
  const items = [...document.querySelectorAll<HTMLElement>('[data-item]')];
  const groups = [...document.querySelectorAll<HTMLElement>('[data-group]')];
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) item.hidden = !words.every((word) => item.dataset.item?.toLowerCase().includes(word));
    for (const group of groups) group.hidden = !group.querySelector('[data-item]:not([hidden])');
    const count = items.filter(({ hidden }) => !hidden).length;
    status.textContent = words.length === 0 ? '' : `${count} of ${items.length}`;
  });
}
