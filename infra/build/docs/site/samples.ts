const KEY = 'language';

/**
 * Shows one language of each sample. The reader's choice holds for all samples that have this language, and is kept.
 */
export function setUpSamples(): void {
  for (const samples of document.querySelectorAll<HTMLElement>('.samples')) addChoice(samples);
  show(localStorage.getItem(KEY) ?? 'sh');
}

function addChoice(samples: HTMLElement): void {
  const choice = document.createElement('div');
  choice.className = 'languages';
  choice.role = 'group';
  choice.ariaLabel = 'Language';
  for (const { dataset, textContent } of figuresOf(samples)) {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent });
    button.dataset.language = dataset.language;
    button.addEventListener('click', () => {
      localStorage.setItem(KEY, dataset.language ?? '');
      show(dataset.language ?? '');
    });
    choice.append(button);
  }
  samples.prepend(choice);
}

function figuresOf(samples: HTMLElement): { dataset: DOMStringMap; textContent: string }[] {
  return [...samples.querySelectorAll('figure')].map((figure) => ({
    dataset: figure.dataset,
    textContent: figure.querySelector('figcaption')?.textContent ?? '',
  }));
}

function show(language: string): void {
  for (const samples of document.querySelectorAll<HTMLElement>('.samples')) {
    const figures = [...samples.querySelectorAll('figure')];
    const shown = figures.find(({ dataset }) => dataset.language === language) ?? figures[0];
    for (const figure of figures) figure.hidden = figure !== shown;
    for (const button of samples.querySelectorAll('button'))
      button.ariaPressed = String(button.dataset.language === shown?.dataset.language);
  }
}
