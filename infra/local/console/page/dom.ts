/** Throws if the page has no such element. */
export function byId(id: string): HTMLElement {
  const elementWithId = document.getElementById(id);
  if (!elementWithId) throw new Error(`The page has no element #${id}`);
  return elementWithId;
}

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const newElement = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) newElement.setAttribute(attribute, value);
  newElement.append(...children);
  return newElement;
}

/** Does not set the same text again: screen readers would announce it, and browsers would repeat the layout. */
export function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

export function setChildren(of: HTMLElement, children: readonly HTMLElement[]): void {
  if (of.children.length !== children.length || children.some((child, index) => of.children[index] !== child))
    of.replaceChildren(...children);
}
