/** Opens the operation or schema that the hash names. On the page of contents, goes to the page of the operation. */
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
