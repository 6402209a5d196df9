// What the page is made of comes from node_modules and from psql: nothing from the network.
export default {
  title: "racepriv",
  root: "src",
  head: '<link rel="icon" href="data:,">',
  theme: ["air", "near-midnight", "wide"],
  globalStylesheets: [],
  sidebar: false,
  toc: false,
  pager: false,
  search: false,
  footer: `All figures come from private releases.${process.env.CLINIC ? " The tables are made up: for the exact values beside, they were read." : ""}`
};
