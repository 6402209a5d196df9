#!/bin/sh
# query.sh FILE: the rows of a query as JSON.  The folder of the file says who asks: the
# analyst, who sees releases alone, in the database of analysts; or the curator, who sees
# what is left of a budget, where the data are.

folder=$(basename "$(dirname "$1")")
case $folder in
analyst) database=${ANALYSIS_DATABASE:-analysis} ;;
curator) database=${DATA_DATABASE:-camera} ;;
*)
	echo "$1 is in neither of the folders analyst and curator" >&2
	exit 1
	;;
esac
{
	echo "SELECT coalesce(json_agg(q), '[]') FROM ("
	cat "$1"
	echo ") q"
} | PGUSER=$folder PGDATABASE=$database psql -XAtq -v ON_ERROR_STOP=1
