// node browser.js URL FOLDER: looks at the dashboard in a headless Chromium, writes TAP, and
// leaves screenshots in the folder.
import {execFileSync} from "node:child_process";
import {join} from "node:path";
import {chromium} from "playwright-core";

const [url, folder] = process.argv.slice(2);
let tests = 0;
let failed = 0;

function ok(good, title, detail = "") {
  tests++;
  failed += !good;
  console.log(`${good ? "ok" : "not ok"} ${tests} - ${title}${good || detail === "" ? "" : `\n# ${detail}`}`);
}

// What each chart of the release "visits" must have: marks of a kind, so many at least, and with extent
const charts = {
  "curve-age": {"[aria-label=area] path": 1, "[aria-label=line] path": 1},
  "curve-wait": {"[aria-label=line] path": 1, "[aria-label=dot] circle": 1},
  "bars-site": {"[aria-label=bar] rect": 3, "[aria-label=rule] line": 3},
  "bars-reason": {"[aria-label=bar] rect": 4},
  map: {"[aria-label=rect] rect": 200},
  means: {"[aria-label=dot] circle": 10}
};
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? execFileSync("which", ["chromium"], {encoding: "utf8"}).trim(),
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"]
});
const complaints = [];
const others = [];

async function open(width, colorScheme) {
  const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
  page.setDefaultTimeout(60000);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => /^(data|blob):/.test(request.url()) || request.url().startsWith(url) || others.push(request.url()));
  await page.goto(url, {waitUntil: "load"});
  await page.waitForSelector("#means [aria-label=dot] circle");
  await page.waitForSelector("#releases tbody tr");
  return page;
}
const figure = (page) => page.locator("#figures .figure").first().innerText();

try {
  const page = await open(1440, "light");
  for (const [id, marks] of Object.entries(charts)) {
    for (const [selector, least] of Object.entries(marks)) {
      const boxes = await page.locator(`#${id} :is(${selector})`).evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).filter((b) => b.width + b.height > 2).length);
      ok(boxes >= least, `${id}: ${selector}`, `${boxes} of ${least}`);
    }
    ok(!/NaN|undefined|null/.test(await page.locator(`#${id}`).innerText()), `${id}: no missing values in its text`);
    ok(/race_/.test(await page.locator(`#${id} pre`).textContent()), `${id}: its SQL`);
    ok(/^data:text\/csv.*%0A/.test(await page.locator(`#${id} a[download]`).getAttribute("href")), `${id}: its CSV`);
  }
  ok(await page.locator("#drift tbody tr").count() === 4 && /2026/.test(await page.locator("#drift tbody tr").first().innerText()), "versions have dates");
  ok(await page.locator("#releases tbody tr").count() === 3, "the catalog has a row for each release");
  ok(/at the bound, 90/.test(await page.locator("#curve-wait").innerText()), "clipped records are called so");
  const all = await figure(page);
  await page.selectOption("[aria-label=Group]", "1");
  await page.waitForFunction((all) => document.querySelector("#figures .figure")?.textContent !== all, all);
  ok(/of all/.test(await page.locator("#figures").innerText()), "a group changes the figures");
  ok(await page.locator(".exact").count() === 0, "exact values are hidden");
  await page.check("#beside");
  await page.waitForSelector(".exact");
  ok(true, "and shown by the switch");
  await page.waitForSelector("#curve-age [aria-label=line] path >> nth=1");
  const box = await page.locator("#curve-age svg").first().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => /exactly/.test(document.querySelector("#curve-age [aria-label=tip]")?.textContent));
  ok(true, "a tip tells the value below the pointer");
  await page.fill("[type=search]", "median");
  await page.waitForFunction(() => document.querySelectorAll("#knows tbody tr").length === 3);
  ok(true, "the table can be searched");
  await page.selectOption("[aria-label=Release]", {label: "households"});
  await page.waitForSelector("#curve-income [aria-label=line] path");
  ok(true, "another release has its charts");
  await page.selectOption("[aria-label=Release]", {label: "visits by day"});
  await page.waitForSelector("#curve-visited [aria-label=line] path");
  await page.waitForFunction(() => document.querySelector("#map") === null);
  ok(true, "a release without pairs of numbers has no map");

  for (const [width, scheme] of [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]) {
    const view = await open(width, scheme);
    const over = await view.evaluate(() => [document.documentElement.scrollWidth - window.innerWidth, [...document.querySelectorAll(".card, .legend, svg[aria-label]")].filter((e) => e.getBoundingClientRect().right > window.innerWidth + 1).length]);
    ok(over.join() === "0,0", `nothing is cut off at ${width} pixels, ${scheme}`, over.join());
    ok(await view.evaluate(() => [...document.querySelectorAll(".legend")].every((e) => e.getBoundingClientRect().height < 24)), `legends have one line at ${width} pixels, ${scheme}`);
    const text = await view.evaluate(() => getComputedStyle(document.body).color.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3);
    ok(scheme === "dark" ? text > 170 : text < 80, `its text is readable, ${scheme}`, text);
    await view.screenshot({path: join(folder, `${width}-${scheme}.png`), fullPage: true});
    await view.close();
  }
  ok(complaints.length === 0, "no errors and no warnings in the console", complaints.join("; "));
  ok(others.length === 0, "nothing is fetched from elsewhere", others.join(" "));
  await Promise.all([page.waitForEvent("console"), page.evaluate(() => console.error("control"))]);
  ok(complaints.length === 1, "control: an error would have been noticed");
} finally {
  await browser.close();
}
console.log(`1..${tests}`);
process.exit(failed === 0 ? 0 : 1);
