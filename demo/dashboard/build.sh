#!/bin/sh
# build.sh: makes dist, from node_modules and the database alone.
#
# The framework asks the registry for the latest versions of libraries that a page might
# import, though this one imports none of them.  It believes the folders of its cache first.
set -eu
cd "$(dirname "$0")"

export OBSERVABLE_TELEMETRY_DISABLE=true
rm -rf dist src/.observablehq
for library in react react-dom lodash d3 d3-dsv htl arquero apache-arrow parquet-wasm echarts leaflet \
	mapbox-gl topojson-client @observablehq/plot @observablehq/sample-datasets; do
	mkdir -p "src/.observablehq/cache/_npm/$library@0.0.0"
done
node_modules/.bin/observable build
