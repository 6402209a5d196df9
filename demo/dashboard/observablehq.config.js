// What the page is made of comes from node_modules and from psql: nothing from the network.
export default {
  title: "racepriv",
  root: "src",
  head: '<link rel="icon" href="data:,">',
  theme: "air",
  globalStylesheets: [],
  sidebar: false,
  toc: false,
  pager: false,
  search: false,
  footer: "All figures come from private releases. No record was read to draw them.",
  interpreters: {".sql": ["sh", "query.sh"]}
};
