/** The element of the page that has this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

/** A new element. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}

/** Changes a text only when it is another one: screen readers tell of every change, and browsers lay out anew. */
export function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Puts these elements there, and leaves them alone when they are there already. */
export function setChildren(of: HTMLElement, children: readonly HTMLElement[]): void {
  if (of.children.length !== children.length || children.some((child, index) => of.children[index] !== child))
    of.replaceChildren(...children);
}
