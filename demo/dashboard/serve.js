// node serve.js [FOLDER [PORT]]: serves the files of a folder to this machine alone, and
// prints the address.  Port 0 is any that is free.
import {createReadStream, statSync} from "node:fs";
import {createServer} from "node:http";
import {extname, join, normalize} from "node:path";

const [folder = "dist", port = "3000"] = process.argv.slice(2);
const types = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"
};

function find(url) {
  const file = join(folder, normalize("/" + decodeURIComponent(new URL(url, "http://localhost").pathname)));
  return statSync(file).isDirectory() ? join(file, "index.html") : file;
}

const server = createServer((request, response) => {
  try {
    const file = find(request.url);
    response.writeHead(200, {"content-type": `${types[extname(file)] ?? "application/octet-stream"}; charset=utf-8`});
    createReadStream(file).pipe(response);
  } catch {
    response.writeHead(404).end("not found\n");
  }
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
