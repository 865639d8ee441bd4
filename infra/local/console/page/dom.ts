/** Returns the element with this id. Throws if there is none. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

/** Creates an element. */
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

/** Sets the text of an element if it differs. Screen readers announce every change, and browsers repeat the layout. */
export function setText(of: HTMLElement, text: string): void {
  if (of.textContent !== text) of.textContent = text;
}

/** Replaces the children of an element if they differ. */
export function setChildren(of: HTMLElement, children: readonly HTMLElement[]): void {
  if (of.children.length !== children.length || children.some((child, index) => of.children[index] !== child))
    of.replaceChildren(...children);
}
