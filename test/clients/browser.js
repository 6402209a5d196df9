// node browser.js URL FOLDER: looks at the dashboard in a headless Chromium, writes TAP, and
// leaves screenshots in the folder.
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {chromium} from "playwright-core";

const [url, folder] = process.argv.slice(2);
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"];
const profile = mkdtempSync(join(tmpdir(), "racepriv-chromium-"));
let tests = 0;
let failed = 0;

function ok(good, title, detail = "") {
  tests++;
  failed += !good;
  console.log(`${good ? "ok" : "not ok"} ${tests} - ${title}${good || detail === "" ? "" : `\n# ${detail}`}`);
}

// What a chart must have: marks of a kind, so many at least, and with extent
const charts = {
  density: ["Density of red, with its band", {"[aria-label=area] path": 1, "[aria-label=line] path": 1, "[aria-label=rule] line": 4}],
  map: ["Heat map of red and green", {"[aria-label=raster] image, image": 1}],
  mean: ["Mean of blue by red", {"[aria-label=area] path": 1, "[aria-label=line] path": 1}],
  groups: ["Density of red, by kind", {"[aria-label=area] path": 2, "[aria-label=line] path": 2}],
  drift: ["Drift between versions", {"[aria-label=bar] rect": 3}],
  budget: ["Budget spent and left", {"[aria-label=bar] rect": 2}]
};

const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? execFileSync("which", ["chromium"], {encoding: "utf8"}).trim(),
  args: flags, viewport: {width: 1200, height: 900}
});
try {
  const page = context.pages()[0] ?? await context.newPage();
  page.setDefaultTimeout(100000);
  // Waits for what is tested next, which says so if it never comes
  const settled = (condition, ...given) => page.waitForFunction(condition, ...given).catch(() => {});
  const complaints = [];
  const others = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()} failed`));
  page.on("request", (request) => /^(data|blob):/.test(request.url()) || request.url().startsWith(url) || others.push(request.url()));
  await page.goto(url, {waitUntil: "load"});
  await page.waitForSelector("#releases tbody tr");
  await page.waitForSelector("#budget p");
  await settled((labels) => labels.every((label) => document.querySelector(`[aria-label="${label}"]`)), Object.values(charts).map(([name]) => name));

  for (const [id, [name, marks]] of Object.entries(charts)) {
    ok(await page.locator(`#${id} [aria-label="${name}"]`).count() === 1, `${name}: there is a chart of that name`);
    for (const [selector, least] of Object.entries(marks)) {
      const boxes = await page.locator(`#${id} :is(${selector})`).evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).map((b) => [b.width, b.height]));
      const seen = boxes.filter(([w, h]) => w + h > 2).length;
      ok(seen >= least, `${name}: ${selector}`, `${seen} of ${least}: ${JSON.stringify(boxes)}`);
    }
    ok(!/NaN|undefined|null/.test(await page.locator(`#${id}`).innerText()), `${name}: no missing values in its text`);
  }
  ok(await page.locator("#releases tbody tr").count() === 4, "the catalog has a row for each release");
  ok(/of 255/.test(await page.locator("#density").innerText()), "an axis has its unit");
  const colours = await page.locator("#map :is([aria-label=raster] image, image)").first().evaluate(async (image) => {
    const picture = new Image();
    picture.src = image.getAttribute("href") ?? image.getAttribute("xlink:href");
    await picture.decode();
    const canvas = Object.assign(document.createElement("canvas"), {width: picture.width, height: picture.height});
    const paint = canvas.getContext("2d");
    paint.drawImage(picture, 0, 0);
    return new Set(new Uint32Array(paint.getImageData(0, 0, picture.width, picture.height).data.buffer)).size;
  });
  ok(colours > 20, "the heat map has many colours", `${colours}`);
  await page.screenshot({path: join(folder, "wide.png"), fullPage: true});

  // The keyboard: tab to the threshold, and move it
  const rows = () => page.locator("#anomalies tbody tr").count();
  const before = await rows();
  ok(before > 0, "some colours are rare");
  for (let i = 0; i < 50 && !(await page.evaluate(() => document.activeElement?.id === "threshold")); i++) await page.keyboard.press("Tab");
  ok(await page.evaluate(() => document.activeElement?.id === "threshold"), "Tab reaches the threshold");
  const shown = (n) => settled((n) => document.querySelectorAll("#anomalies tbody tr").length !== n, n);
  await page.keyboard.press("End");
  await shown(before);
  const more = await rows();
  ok(more > before, "End raises it, and more colours are rare", `${before}, ${more}`);
  await page.keyboard.press("Home");
  await shown(more);
  ok(await rows() < more, "Home lowers it", `${await rows()}`);
  ok((await page.locator("label[for=threshold]").count()) === 1, "the threshold has a label");

  await page.setViewportSize({width: 360, height: 740});
  await settled(() => document.documentElement.scrollWidth <= window.innerWidth && [...document.querySelectorAll("svg[aria-label], figure svg")].every((e) => e.getBoundingClientRect().right <= window.innerWidth + 1));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  ok(wide <= 0, "a narrow screen needs no scrolling to the side", `${wide} pixels too wide`);
  const broad = await page.locator("svg[aria-label], figure svg").evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1).length);
  ok(broad === 0, "nor does a chart", `${broad} are cut off`);
  await page.screenshot({path: join(folder, "narrow.png"), fullPage: true});

  ok(complaints.length === 0, "no errors and no warnings in the console", complaints.join("; "));
  ok(others.length === 0, "nothing is fetched from elsewhere", others.join(" "));
  await Promise.all([page.waitForEvent("console"), page.evaluate(() => console.error("control"))]);
  ok(complaints.length === 1, "control: an error would have been noticed");
} finally {
  await context.close();
  rmSync(profile, {recursive: true, force: true});
}
console.log(`1..${tests}`);
process.exit(failed === 0 ? 0 : 1);
