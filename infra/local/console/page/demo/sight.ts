const SEEN_MILLISECONDS = 1_000;

/** Reports the elements that a user sees: they have been in view for a moment, in the window that has the focus. */
export class Sight {
  readonly #onSeen: (elements: ReadonlySet<Element>) => void;
  readonly #inView = new Set<Element>();
  readonly #observer: IntersectionObserver;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(onSeen: (elements: ReadonlySet<Element>) => void) {
    this.#onSeen = onSeen;
    this.#observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries)
        if (isIntersecting) this.#inView.add(target);
        else this.#inView.delete(target);
      this.look();
    });
    addEventListener('focus', () => this.look());
  }

  watch(element: Element): void {
    this.#observer.observe(element);
  }

  look(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => document.hasFocus() && this.#onSeen(this.#inView), SEEN_MILLISECONDS);
  }
}
