/** On the page of contents, the hash of an operation leads to the page of this operation. */
export function setUpHash(): void {
  openTarget();
  addEventListener('hashchange', openTarget);
}

function openTarget(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLAnchorElement && target.closest('[data-item]')) location.replace(target.href);
  if (!(target instanceof HTMLDetailsElement)) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}
