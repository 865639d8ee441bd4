/**
 * Unpacks the package's Chromium into the folder that `TMPDIR` names. Needs its own process, because the package takes
 * the folder from nowhere else.
 */
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
