/** An address of the contents leads on to the page of the operation. */
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
