/** Unpacks the Chromium of the package into the directory that `TMPDIR` names; run as a process of its own, because the package knows no other way to say where. */
import chromium from '@sparticuz/chromium';

await chromium.executablePath();
