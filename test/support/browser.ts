import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { browserProgram } from './chromium.ts';

/** A browser page, with its problems and requests so far. */
export interface Tab {
  readonly page: Page;
  /** Console errors (including violations of the content security policy), thrown errors and failed requests. */
  readonly problems: readonly string[];
  /** The URLs of all requests, including blocked ones. */
  readonly requestedUrls: readonly string[];
}

/** The timeout of waits for a condition on a page. */
const TIMEOUT_MILLISECONDS = 20_000;

/** A real headless browser. It can only connect to this machine. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    const program = await browserProgram();
    // This option makes other machines unreachable for the browser. Request interception is not used, because it accepts all
    // CORS preflight requests.
    return new TestBrowser(
      await chromium.launch({
        ...program,
        args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'],
      }),
    );
  }

  /** Opens a new tab with a separate context. */
  async open(options: BrowserContextOptions = {}): Promise<Tab> {
    // Without this option, the browser uses the locale of the process. On a server, JavaScript may not support that
    // locale.
    const context = await this.#browser.newContext({ serviceWorkers: 'block', locale: 'en-US', ...options });
    context.setDefaultTimeout(TIMEOUT_MILLISECONDS);
    const [problems, requestedUrls]: [string[], string[]] = [[], []];
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => requestedUrls.push(request.url()));
    page.on('requestfailed', (request) =>
      problems.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
    );
    return { page, problems, requestedUrls };
  }

  stop(): Promise<void> {
    return this.#browser.close();
  }
}
