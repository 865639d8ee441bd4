import type { Part } from '../../parts.ts';
import type { PartsAnswer } from '../consoleState.ts';
import { byId, element, setText } from './dom.ts';

interface Item {
  readonly item: HTMLElement;
  readonly state: HTMLElement;
  readonly meaning: HTMLElement;
  readonly button: HTMLButtonElement;
  running: boolean;
}

const items = new Map<string, Item>();

/** Shows a button for each part. Calls `onSwitched` after each attempt to stop or start a part. */
export function showParts(parts: readonly Part[], onSwitched: () => void): void {
  for (const { name, running, meaning } of parts) {
    const item = items.get(name) ?? newItem(name, onSwitched);
    item.running = running;
    item.item.dataset['running'] = String(running);
    setText(item.state, running ? 'runs' : 'stopped');
    setText(item.meaning, meaning);
    // Screen readers can read the button without its heading.
    setText(item.button, `${running ? 'Stop' : 'Start'} ${name}`);
  }
}

function newItem(name: string, onSwitched: () => void): Item {
  const [state, meaning, button] = [
    element('span', { class: 'state' }),
    element('p'),
    element('button', { type: 'button' }),
  ];
  const item = {
    item: element('li', {}, element('h3', {}, name, ' ', state), button, meaning),
    state,
    meaning,
    button,
    running: true,
  };
  button.addEventListener('click', () => void flip(name, item, onSwitched));
  items.set(name, item);
  byId('parts').append(item.item);
  return item;
}

async function flip(name: string, { button, running }: Item, onSwitched: () => void): Promise<void> {
  // A disabled button would lose the focus. `ariaBusy` keeps it.
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  setText(byId('switched'), running ? `Stopping ${name} …` : `Starting ${name} …`);
  try {
    const response = await fetch(`parts/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ running: !running }),
    });
    if (!response.ok) throw new Error(`the answer was ${response.status}`);
    showParts(((await response.json()) as PartsAnswer).parts, onSwitched);
    setText(byId('switched'), running ? `${name} is stopped.` : `${name} runs again.`);
  } catch (error) {
    setText(
      byId('switched'),
      `${name} could not be ${running ? 'stopped' : 'started'}: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    button.ariaBusy = null;
    onSwitched();
  }
}
