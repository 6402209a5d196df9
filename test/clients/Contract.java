// java -cp postgresql.jar Contract.java: for each line of the input, a statement, its form with parameters, and these, the
// rows that JDBC gets from the database that PGDATABASE and others name, or the SQLSTATE.
import java.sql.*;
import java.util.*;

public class Contract {
	static void set(Connection connection, PreparedStatement statement, int i, String text) throws SQLException {
		String value = text.substring(2);
		switch (text.charAt(0)) {
		case 's': statement.setString(i, value); break;
		case 'i': statement.setInt(i, Integer.parseInt(value)); break;
		case 'n': statement.setArray(i, connection.createArrayOf("float8", Arrays.stream(value.split(",")).map(Double::valueOf).toArray())); break;
		default: statement.setObject(i, value, Types.OTHER);	// JSON
		}
	}

	static String ask(Connection connection, String[] fields) {
		try (PreparedStatement statement = connection.prepareStatement(fields[1])) {
			for (int i = 2; i < fields.length; i++)
				set(connection, statement, i - 1, fields[i]);
			StringJoiner rows = new StringJoiner(";");
			for (ResultSet result = statement.executeQuery(); result.next(); ) {
				StringJoiner row = new StringJoiner(" ");
				for (int i = 1; i <= result.getMetaData().getColumnCount(); i++)
					row.add(result.getObject(i) == null ? "null" : result.getString(i));
				rows.add(row.toString());
			}
			return rows.toString();
		} catch (SQLException error) {
			return "ERROR " + error.getSQLState();
		}
	}

	public static void main(String[] arguments) throws SQLException {
		Map<String, String> e = System.getenv();
		// prepareThreshold: a prepared statement belongs to one server connection
		try (Connection connection = DriverManager.getConnection("jdbc:postgresql://" + e.get("PGHOST") + ":" + e.get("PGPORT") + "/"
				+ e.get("PGDATABASE") + "?prepareThreshold=0", e.get("PGUSER"), "")) {
			for (Scanner input = new Scanner(System.in); input.hasNextLine(); )
				System.out.println(ask(connection, input.nextLine().split("\t")));
		}
	}
}
