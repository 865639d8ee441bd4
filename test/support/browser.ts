import { type Browser, type BrowserContextOptions, chromium, type Page, type Request } from 'playwright-core';
import { browserProgram } from './chromium.ts';

/** A page in the browser. Also records what went wrong in it and what it requested. */
export interface Tab {
  readonly page: Page;
  /**
   * Console errors, thrown errors and failed requests. Violations of the content security policy are console errors.
   * The requests that the browser aborts because the page is reloaded or left are not problems.
   */
  readonly problems: readonly string[];
  /** The URLs of all requests, including blocked ones. */
  readonly requestedUrls: readonly string[];
}

/** The maximum wait for an element or a condition in a page. */
const TIMEOUT_MILLISECONDS = 20_000;

/** A headless Chromium. It can only connect to this machine. */
export class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<TestBrowser> {
    const program = await browserProgram();
    // With this option, the browser finds no address of another machine. Playwright could instead intercept all
    // requests, but it then answers all CORS preflight requests itself.
    return new TestBrowser(
      await chromium.launch({
        ...program,
        args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*, EXCLUDE localhost'],
      }),
    );
  }

  /** Opens a tab that shares no cookies or storage with other tabs. */
  async open(options: BrowserContextOptions = {}): Promise<Tab> {
    // Sets the locale. Otherwise the browser takes it from the environment, where it can be one that JavaScript does
    // not know.
    const context = await this.#browser.newContext({ serviceWorkers: 'block', locale: 'en-US', ...options });
    context.setDefaultTimeout(TIMEOUT_MILLISECONDS);
    const [problems, requestedUrls]: [string[], string[]] = [[], []];
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(String(error)));
    // The request for the next document, until that document replaces the one before.
    let next: Request | undefined;
    page.on('request', (request) => {
      requestedUrls.push(request.url());
      if (request.isNavigationRequest() && request.frame() === page.mainFrame()) next = request;
    });
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) next = undefined;
    });
    page.on('requestfailed', (request) => {
      const error = request.failure()?.errorText;
      if (error === 'net::ERR_ABORTED' && next && next !== request) return;
      problems.push(`${request.method()} ${request.url()}: ${error}`);
    });
    return { page, problems, requestedUrls };
  }

  stop(): Promise<void> {
    return this.#browser.close();
  }
}
